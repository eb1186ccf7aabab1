import { isRecruitingApiError } from '../../../core/shared/errors.js'
import { describeLosses, listWatchedTables, type WatchedTable } from '../../../storages/postgres/changes/watched-tables.js'
import { findTenantColumn, type TenantRelation } from '../../../storages/postgres/lists/columns.js'
import { describeRelation, type Relation } from '../../../storages/postgres/lists/relation.js'
import { assertColumns, candidateKind, jobKind, type RowKind } from '../../../storages/postgres/lists/row-kind.js'
import type { RunQuery, Session } from '../../../storages/postgres/session.js'
import { describeError } from '../database.js'
import { advice, type DoctorContext, fault, type Finding, ok, quoteShell } from './finding.js'
import { judgePages } from './pages.js'

const kinds = [candidateKind, jobKind]

/** Whether the host's relations have the required columns and indexes. */
export async function checkRelations (context: DoctorContext): Promise<Finding[]> {
  if (context.flags.has('no-lists')) return [ok('not checked, because of --no-lists')]
  return (await Promise.all(kinds.map((kind) => checkKind(context, kind)))).flat()
}

async function checkKind (context: DoctorContext, kind: RowKind): Promise<Finding[]> {
  const { session, query, flags, quotedSchema } = context
  const given = flags.text(kind.option)
  const name = given ?? `${quotedSchema}.${kind.option}`
  const hasTenantIds = flags.has('tenant-ids') ? true : null
  const relation = await findRelation(session, kind, name)
  if (relation === null) {
    const remedy = given === undefined
      ? `name your own table or view, --${kind.option} public.api_${kind.option}, ` +
        'or add --no-lists if your server has no lists of candidates and jobs'
      : 'create it, or grant the right to read it'
    return [fault(`--${kind.option}: there is no table or view ${name} that the database user may see`, remedy)]
  }
  const faults = checkColumns(relation, kind, hasTenantIds)
  if (faults.length > 0) return faults
  const checked = findTenantColumn(relation, kind.option, hasTenantIds)
  const { findings, most } = await judgePages(session, checked, kind)
  const found = [...findings, ...await checkSearch(query, checked, kind)]
  if (found.some(({ state }) => state === 'fault' || state === 'unknown')) return found
  return [...found, ok(`${relation.name} has its columns, and no page reads more than ${most} rows or blocks`)]
}

async function findRelation (session: Session, { option }: RowKind, name: string): Promise<Relation | null> {
  try {
    return await describeRelation(session, option, name)
  } catch (error) {
    if (isRecruitingApiError(error) && error.code === 'storage_not_ready') return null
    throw error
  }
}

/** Checks each column separately, so that all faults are found at once. */
function checkColumns (relation: Relation, kind: RowKind, hasTenantIds: boolean | null): Finding[] {
  const { option, columns, ids, exact } = kind
  const none: RowKind = { ...kind, columns: {}, ids: {}, exact: [] }
  const parts: RowKind[] = [
    ...Object.entries(columns).map(([name, types]) => ({ ...none, columns: { [name]: types } })),
    ...Object.entries(ids).map(([name, id]) => ({ ...none, ids: { [name]: id } })),
    ...exact.map((name) => ({ ...none, exact: [name] }))
  ]
  const problems = new Set([
    findProblem(() => findTenantColumn(relation, option, hasTenantIds)),
    ...parts.map((part) => findProblem(() => assertColumns(relation, part, null)))
  ])
  const remedy = `change the column in ${relation.name}`
  return [...problems].flatMap((problem) => problem === null ? [] : [fault(problem, remedy)])
}

function findProblem (check: () => unknown): string | null {
  try {
    check()
    return null
  } catch (error) {
    return describeError(error)
  }
}

/** How many rows to read to find a wrong `name_key`. */
const fewRows = 10_000

/** Whether filter[q] finds every name: PostgreSQL lower-cases only letters from a to z in some collations. */
async function checkSearch (query: RunQuery, relation: TenantRelation, { filters }: RowKind): Promise<Finding[]> {
  const searched = filters.q.field
  const { name, columns, tenantColumn, caseCollation } = relation
  const definition = `text collate "C" generated always as (lower(${searched} collate ${caseCollation})) stored`
  const key = columns.get('name_key')
  if (key === undefined) {
    return [advice(`${name} has no column name_key, so filter[q] reads every row of the tenant`,
      `add a column name_key ${definition}, in an index (${tenantColumn}, id) include (name_key)`)]
  }
  const remedy = `in the table of ${name}, drop the column name_key and add it again: name_key ${definition}`
  if (!key.isInC) {
    const problem = `the column name_key of ${name} has another collation than "C"`
    return [fault(`${problem}, so filter[q] fails or misses letters such as É`, remedy)]
  }
  const wrong = await query(`
    select from (select name_key, ${searched} from ${name} limit ${fewRows}) as r
    where name_key is distinct from lower(${searched} collate ${caseCollation}) limit 1`)
  if (wrong.length === 0) return []
  const problem = `name_key of ${name} is not lower(${searched} collate ${caseCollation}) in each row`
  return [fault(`${problem}, so filter[q] misses rows`, remedy)]
}

/** Whether the tables that feed sync are watched and have their triggers. */
export async function checkWatched ({ query, schema, quotedSchema }: DoctorContext): Promise<Finding[]> {
  const findings = await Promise.all((['candidate', 'job'] as const).map(async (kind) => {
    const tables = (await listWatchedTables(query, quotedSchema, kind)).filter(({ isThere }) => isThere)
    return tables.length === 0 ? [adviseNone(kind)] : tables.map((table) => checkTable(table, schema))
  }))
  return findings.flat()
}

function adviseNone (kind: WatchedTable['kind']): Finding {
  const problem = `no table is watched for ${kind}s: there is no ${kind}s/sync`
  return advice(`${problem}, unless postgresStorage has changes: 'manual'`,
    `if your customers should sync ${kind}s, call watch for each table that your view of ${kind}s reads, ` +
    'then restart the servers')
}

function checkTable (table: WatchedTable, schema: string): Finding {
  const { kind, name, id, tenant } = table
  const losses = describeLosses(table)
  if (losses.length === 0) return ok(`${name} is watched for ${kind}s: id ${id}, tenant ${tenant}`)
  const options = { schema, kind, relation: name, id, tenant }
  const words = Object.entries(options).map(([option, value]) => `--${option} ${quoteShell(value)}`)
  return fault(losses.join('; '), `run fastify-recruiting-api watch ${words.join(' ')}`)
}
