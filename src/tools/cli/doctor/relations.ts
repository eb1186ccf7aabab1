import type { FieldUse, OwnFilter } from '../../../core/ports/index.js'
import { readField } from '../../../core/shared/fields.js'
import {
  describeLosses, listWatchedTables, type WatchedTable
} from '../../../storages/postgres/changes/watched-tables.js'
import { findTenantColumn, type TenantRelation } from '../../../storages/postgres/lists/columns.js'
import { describeRelation, type Relation } from '../../../storages/postgres/lists/relation.js'
import {
  assertColumns, assertFilter, candidateKind, filterTypeOf, jobKind, type RowKind
} from '../../../storages/postgres/lists/row-kind.js'
import type { RunQuery } from '../../../storages/postgres/session.js'
import { UsageError, type Flags } from '../command.js'
import { describeError } from '../database.js'
import { quoteShell } from '../terminal.js'
import { advice, type Check, type DoctorContext, fault, type Finding, ok } from './finding.js'
import { judgePages } from './pages.js'

export const relationsCheck: Check = {
  name: 'relations',
  async find (context) {
    if (context.flags.has('no-lists')) return [ok('not checked, because of --no-lists')]
    return (await Promise.all([candidateKind, jobKind].map((kind) => checkKind(context, kind)))).flat()
  }
}

/** Whether the tables that feed sync have their triggers, whose owner may record changes. */
export const watchedCheck: Check = {
  name: 'watched tables',
  async find ({ query, schema, quotedSchema }) {
    const tables = (await listWatchedTables(query, quotedSchema, null)).filter(({ isThere }) => isThere)
    const missing = ['candidate', 'job'].filter((kind) => !tables.some((table) => table.kind === kind))
    return [
      ...tables.map((table) => checkTable(table, schema)),
      ...missing.map((kind) => advice(
        `no table is watched for ${kind}s: there is no ${kind}s/sync, unless postgresStorage has changes: 'manual'`,
        `if your customers should sync ${kind}s, call watch for each table that your view of ${kind}s reads, ` +
        'then restart the servers'))
    ]
  }
}

function checkTable (table: WatchedTable, schema: string): Finding {
  const { kind, name, id, tenant, emit } = table
  const losses = describeLosses(table)
  if (losses.length === 0) return ok(`${name} is watched for the kind ${kind}: id ${id}, tenant ${tenant}`)
  const emitted = emit === null ? {} : { emit: JSON.stringify(emit) }
  const words = Object.entries({ schema, kind, relation: name, id, tenant, ...emitted })
    .map(([option, value]) => `--${option} ${quoteShell(value)}`)
  return fault(losses.join('; '), `run fastify-recruiting-api watch ${words.join(' ')}`)
}

async function checkKind (context: DoctorContext, kind: RowKind): Promise<Finding[]> {
  const { session, query, quotedSchema, flags } = context
  const { option } = kind
  const given = flags.text(option)
  const name = given ?? `${quotedSchema}.${option}`
  const relation = await describeRelation(session, option, name).catch((error: unknown) => {
    if (readField(error, 'code') !== 'storage_not_ready') throw error
    return null
  })
  if (relation === null) {
    const remedy = given === undefined
      ? `name your own table or view, --${option} public.api_${option}, ` +
        'or add --no-lists if your server has no lists of candidates and jobs'
      : 'create it, or grant the right to read it'
    return [fault(`--${option}: there is no table or view ${name} that the database user may see`, remedy)]
  }
  const hasTenantIds = flags.has('tenant-ids') ? true : null
  const own = readFilters(flags, kind).map((filter): OwnFilter => {
    const column = relation.columns.get(filter.field)
    return { ...filter, type: (column && filterTypeOf(column)) ?? 'text' }
  })
  const problems = listProblems(relation, kind, own, hasTenantIds)
  if (problems.length > 0) return problems.map((problem) => fault(problem, `change the column in ${relation.name}`))
  const checked = findTenantColumn(relation, option, hasTenantIds)
  const { findings, most, isSample } = await judgePages(session, checked, kind, own)
  const all = [...findings, ...await checkSearch(query, checked, kind)]
  if (all.some(({ state }) => state !== 'advice')) return all
  const judged = isSample ? '' : '; it has too few rows to judge other indexes than those by id and updated_at'
  return [...all, ok(`${relation.name} has its columns, and no page reads more than ${most} rows or blocks${judged}`)]
}

/** Flags that repeat the options `candidateFilters` and `jobFilters` of the servers. */
const filterFlags = { candidates: 'candidate-filters', jobs: 'job-filters' } as const

export const filterOptions = Object.fromEntries(Object.entries(filterFlags).map(([list, name]) => [name, {
  value: 'FIELDS',
  about: `the fields of ${list} that your servers' option ${list.slice(0, -1)}Filters names, such as ` +
    'email,started_at:after,started_at:sort; without a use, equals'
}]))

/** Reads the flag with a list's own filters. Throws a `UsageError`. */
export function readFilters (flags: Flags, { option }: Pick<RowKind, 'option'>): Array<Omit<OwnFilter, 'type'>> {
  const name = filterFlags[option]
  flags.assertAlone('no-lists', name)
  return (flags.optionalList(name) ?? []).map((item) => {
    const [field = '', use = 'equals', ...others] = item.split(':')
    const known = uses.find((one) => one === use)
    if (/^[a-z_]\w*$/i.test(field) && known !== undefined && others.length === 0) return { field, uses: [known] }
    throw new UsageError(`--${name}: expected fields such as email or started_at:after, got ${JSON.stringify(item)}`)
  })
}

const uses: readonly FieldUse[] = ['equals', 'after', 'sort']

/** Checks each column separately, so that all faults are found at once. */
function listProblems (
  relation: Relation, kind: RowKind, own: readonly OwnFilter[], hasTenantIds: boolean | null
): string[] {
  const parts = (['columns', 'ids'] as const).flatMap((part) => Object.entries(kind[part]).map(([name, types]) => (
    { ...kind, columns: {}, ids: {}, [part]: { [name]: types }, exact: kind.exact.filter((one) => one === name) })))
  const problems = [
    () => findTenantColumn(relation, kind.option, hasTenantIds),
    ...parts.map((part) => () => assertColumns(relation, part, null)),
    ...own.map((filter) => () => assertFilter(relation, kind.option, filter))
  ].flatMap((check) => {
    try {
      check()
      return []
    } catch (error) {
      return [describeError(error)]
    }
  })
  return [...new Set(problems)]
}

/** Whether filter[q] finds every name: PostgreSQL lower-cases only letters from a to z in some collations. */
async function checkSearch (query: RunQuery, relation: TenantRelation, { filters }: RowKind): Promise<Finding[]> {
  const { name, columns, tenantColumn, caseCollation } = relation
  const lower = `lower(${filters.q.field} collate ${caseCollation})`
  const definition = `name_key text collate "C" generated always as (${lower}) stored`
  const key = columns.get('name_key')
  if (key === undefined) {
    return [advice(`${name} has no column name_key, so filter[q] reads every row of the tenant`,
      `add a column ${definition}, in an index (${tenantColumn}, id) include (name_key)`)]
  }
  const problem = !key.isInC
    ? `the column name_key of ${name} has another collation than "C", so filter[q] fails or misses letters such as É`
    : (await query(`
        select from (select name_key, ${filters.q.field} from ${name} limit 10000) as r
        where name_key is distinct from ${lower} limit 1`)).length > 0
        ? `name_key of ${name} is not ${lower} in each row, so filter[q] misses rows`
        : null
  const remedy = `in the table of ${name}, drop the column name_key and add it again: ${definition}`
  return problem === null ? [] : [fault(problem, remedy)]
}
