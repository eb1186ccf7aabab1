import {
  formatColumn, formatIdAmong, formatOrder, formatTenantCondition, type TenantRelation
} from '../../../storages/postgres/lists/columns.js'
import type { RowKind } from '../../../storages/postgres/lists/row-kind.js'
import {
  formatFind, formatPage, formatPageAfter, type Statement
} from '../../../storages/postgres/lists/row-statements.js'
import type { RunQuery, Session } from '../../../storages/postgres/session.js'
import { Conditions, quoteName } from '../../../storages/postgres/sql.js'
import { candidateList, jobList, listParameters, listSortable } from '../../../core/api/rows.js'
import type { OwnFilter } from '../../../core/ports/index.js'
import { readField } from '../../../core/shared/fields.js'
import { advice, fault, type Finding, unknown } from './finding.js'

type Sizes = 'Plan Rows' | 'Actual Rows' | 'Actual Loops' | 'Rows Removed by Filter' | 'Rows Removed by Index Recheck' |
  'Shared Hit Blocks' | 'Shared Read Blocks'
type Names = 'Parent Relationship' | 'Schema' | 'Relation Name' | 'Index Cond'

/** A node of a plan. Numbers of rows are averages of its loops. Blocks are those of the node and its children. */
interface Plan extends Partial<Record<Sizes, number> & Record<Names, string>> {
  'Node Type': string
  'Sort Key'?: string[]
  'Presorted Key'?: string[]
  /** The source of each result column: a column such as `p.id`, or an expression. */
  Output?: string[]
  Plans?: Plan[]
}

/** A statement of the API for one tenant. */
interface Page {
  name: string
  /** What its index contains between the tenant and the id. */
  keys: string[]
  statement: Statement | null
  /** Whether it looks for a part of a name, for which only large tenants need an index. */
  isSearch?: boolean
}

/** A page may read this many rows or blocks, and this many for each row that it returns; a search this many names. */
const [fewRows, rowsEach, manyRows, limit] = [2000, 40, 100_000, 25]
/** How many rows to read to find tenants, and how many large and small ones to compare. */
const [sampledRows, comparedTenants] = [10_000, 8]
/** How long one page and all pages of a relation may take. */
const [pageMs, totalMs] = [1000, 2000]
const everyPage = 'every page'

/**
 * Runs the pages of a large tenant, a small one and one without rows, with every sort and filter, and compares the rows
 * that they read with those that they return. If the relation has too few rows for that, asks the planner whether
 * indexes can serve the pages that every client reads. Returns the most rows that a page reads, too.
 */
export async function judgePages (
  session: Session, relation: TenantRelation, kind: RowKind, own: readonly OwnFilter[] = []
): Promise<{ findings: Finding[], most: number, isSample: boolean }> {
  const query: RunQuery = (text, values) => session.transaction('explain pages', async (run) => {
    await run(`set local statement_timeout to ${pageMs}`)
    return run(text, values)
  })
  const { tenants, isSample } = await findTenants(query, relation)
  // By index, because one index can serve several pages.
  const findings = new Map<string, Finding>()
  const endsAt = performance.now() + totalMs
  let most = 0
  for (const tenant of new Set([...tenants.slice(0, 1), ...tenants.slice(-1), findNobody(relation)])) {
    const who = tenants.includes(tenant) ? `the tenant ${tenant}` : 'a tenant without rows'
    for (const page of listPages(relation, kind, own, tenant)) {
      const { name, keys, statement, isSearch = false } = page
      const index = String(keys)
      if (statement === null || findings.has(index)) continue
      if (performance.now() > endsAt) {
        findings.set(index, unknown(`${relation.name}: ${name} was not judged, because others took too long`,
          'create the indexes that this check names, then run the command again'))
        continue
      }
      const plan = await explain(query, statement, 'analyze, timing off, buffers, ').catch((error: unknown) => {
        if (readField(error, 'code') !== 'storage_timeout') throw error
        return null
      })
      const [read, returned] = plan === null ? [0, 0] : [countRead(plan), rowsOf(plan)]
      if (!isSearch) most = Math.max(most, read)
      if (plan !== null && read <= (isSearch ? manyRows : fewRows + rowsEach * returned)) continue
      const problem = plan === null
        ? `takes more than ${pageMs / 1000} s`
        : `reads ${read} rows or blocks to return ${returned}`
      findings.set(index, (isSearch ? advice : fault)(`${relation.name}: ${name} of ${who} ${problem}`,
        await suggestIndex(query, relation, page, plan ?? await explain(query, statement))))
      // The others read as many.
      if (name === everyPage) return { findings: [...findings.values()], most, isSample }
    }
  }
  const planned = findings.size > 0 || isSample ? findings.values() : await askPlanner(session, relation, kind, own)
  return { findings: [...planned], most, isSample }
}

const flatten = (plan: Plan): Plan[] => [plan, ...plan.Plans?.flatMap(flatten) ?? []]
const listTables = (plan: Plan): Plan[] => flatten(plan).filter((node) => node['Relation Name'] !== undefined)
const rowsOf = ({ 'Actual Rows': rows = 0, 'Actual Loops': loops = 0 }: Plan): number => Math.round(rows * loops)

async function explain (query: RunQuery, { text, values }: Statement, options = ''): Promise<Plan> {
  const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (${options}verbose, format json) ${text}`, values)
  if (row === undefined) throw new Error('PostgreSQL returned no plan')
  return row['QUERY PLAN'][0].Plan
}

/** Counts the rows that leave a table, function or nested query, or the blocks read if there are more. */
function countRead (plan: Plan): number {
  const read = flatten(plan)
    .filter((node) => node['Relation Name'] !== undefined || node.Plans === undefined)
    .map((node) => rowsOf(node) + (node['Actual Loops'] ?? 0) *
      ((node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)))
  const blocks = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
  return Math.max(Math.round(read.reduce((sum, rows) => sum + rows, 0)), blocks)
}

/** Returns some tenants, the largest first, as far as the planner knows, and whether there may be others. */
async function findTenants (
  query: RunQuery, relation: TenantRelation
): Promise<{ tenants: string[], isSample: boolean }> {
  const { name, tenantColumn } = relation
  const sampled = await query<{ tenant: string, rows: number }>(`
    select r.tenant, count(*)::int as rows
    from (select ${tenantColumn}::text as tenant from ${name} limit ${sampledRows}) as r
    where r.tenant is not null
    group by 1 order by 2 desc, 1`)
  const isSample = sampled.reduce((sum, { rows }) => sum + rows, 0) === sampledRows
  const estimated: Array<{ tenant: string, rows: number }> = []
  for (const { tenant, rows } of new Set([...sampled.slice(0, comparedTenants), ...sampled.slice(-comparedTenants)])) {
    const condition = formatTenantCondition(relation, tenant)
    if (condition === null) continue
    const where = new Conditions(condition)
    const plan = isSample ? await explain(query, { text: `select from ${name} ${where}`, values: where.values }) : null
    estimated.push({ tenant, rows: Math.max(rows, plan?.['Plan Rows'] ?? 0) })
  }
  return { tenants: estimated.toSorted((one, other) => other.rows - one.rows).map(({ tenant }) => tenant), isSample }
}

/** Returns a tenant that probably has no rows. */
function findNobody (relation: TenantRelation): string {
  return noIds.map(String).find((id) => formatTenantCondition(relation, id) !== null) ?? ''
}

/** An id that no row has. A column can contain one of them. */
const noIds = [0, '00000000-0000-0000-0000-000000000000']
/** Values that no row has, except the boolean. A search with an index needs letters. */
const noValues = {
  contains: 'qzxjvwqk',
  integer: Number.MIN_SAFE_INTEGER,
  boolean: true,
  time: '0001-01-01T00:00:00Z',
  after: '9999-01-01T00:00:00Z'
}

/** Lists the pages of a tenant. Filters match no row, so each row that they read is in vain. */
function listPages (
  relation: TenantRelation, kind: RowKind, own: readonly OwnFilter[], tenant: string
): Page[] {
  const columns = [...Object.keys(kind.columns), ...Object.keys(kind.ids)].join(', ')
  const page = (filter: object, sort: Parameters<typeof formatPage>[4]['sort']): Statement | null =>
    formatPage(relation, kind, columns, tenant, { filter, sort, offset: 0, limit })
  const list = kind.option === 'candidates' ? candidateList : jobList
  // The first is the id, which the other pages are sorted by.
  const [, ...sortable] = listSortable(list, own)
  const sorted = sortable.flatMap((field) => (['asc', 'desc'] as const).map((direction): Page => ({
    name: `sort=${direction === 'asc' ? '' : '-'}${field}`,
    keys: [formatOrder(relation, field)],
    statement: page({}, [{ field, direction }, { field: 'id', direction }])
  })))
  const byId = [{ field: 'id', direction: 'asc' }] as const
  const filtered = listParameters(list, own).map(({ parameter, name, filter: { test, field } }): Page => {
    const values = test === 'id' || test === 'text' ? noIds : [noValues[test]]
    const [statement = null] = values.flatMap((value) =>
      page(name === null ? { own: [{ field, test, value }] } : { [name]: value }, byId) ?? [])
    if (test !== 'contains') return { name: parameter, keys: [formatColumn(field)], statement }
    // Without name_key, another check reports it.
    const hasKey = relation.columns.has('name_key')
    return { name: 'filter[q]', keys: ['r.name_key'], statement: hasKey ? statement : null, isSearch: true }
  })
  return [
    { name: everyPage, keys: [], statement: page({}, byId) },
    ...sorted,
    ...filtered,
    { name: 'a page of sync', keys: [], statement: formatPageAfter(relation, columns, tenant, { after: null, limit }) },
    {
      name: 'a page of changes',
      keys: [],
      statement: formatFind(relation, columns, tenant, formatIdAmong(relation, noIds))
    }
  ]
}

// A table's name before a column, such as `p.` or `"P".`.
const qualifier = /(\w+|"(?:[^"]|"")+")\.(?=[\w"])/g

async function suggestIndex (query: RunQuery, relation: TenantRelation, page: Page, plan: Plan): Promise<string> {
  const { name, tenantColumn } = relation
  const { isSearch = false } = page
  const keys = [`r.${tenantColumn}`, ...page.keys, ...isSearch ? [] : [formatOrder(relation, 'id')]]
  const where = new Conditions([(value) => `r.${tenantColumn}::text = ${value}`, String(page.statement?.values[0])])
  const { Output: sources = [], ...found } = await explain(query, {
    text: `select ${keys.join(', ')} from ${name} r ${where}`, values: where.values
  })
  const [only, ...others] = listTables(found)
  if (sources.length === keys.length && only !== undefined && others.length === 0) {
    const table = formatTable(only)
    const columns = sources.flatMap((source, index) =>
      formatKey(source, keys[index]?.endsWith(' collate "C"') === true))
    // Without statistics of an expression, the planner may not use its index.
    const analyze = columns.every((column) => !column.startsWith('(')) ? '' : `; analyze ${table}`
    return isSearch
      ? 'if customers search often: create extension if not exists pg_trgm; ' +
        'create extension if not exists btree_gin; ' +
        `create index on ${table} using gin (${columns.join(', ')} gin_trgm_ops)${analyze}`
      : `create index on ${table} (${columns.join(', ')})${analyze}`
  }
  const [largest] = listTables(plan).toSorted((one, other) => countRead(other) - countRead(one))
  const table = largest === undefined ? name : formatTable(largest)
  const move = tenantColumn === 'tenant_id'
    ? `make tenant_id a column of ${table}`
    : `set the option tenantId, and replace tenant_slug with tenant_id, the tenant's id in ${table}`
  return `create an index on ${table} whose first columns are the sources of ${keys.join(', ')}; ` +
    `if the tenant comes from another table, ${move}`
}

/** Formats the source of a result column for `create index`; `[]` for a constant. */
function formatKey (source: string, isInC: boolean): string[] {
  if (/^('|NULL|-?\d)/.test(source)) return []
  const key = source.replaceAll(qualifier, '')
  const column = key.replace(/^\((.*)\)::text$/, '$1')
  const isColumn = /^(\w+|"(?:[^"]|"")+")$/.test(column)
  return [(isColumn ? column : `(${key})`) + (isInC ? ' collate "C"' : '')]
}

function formatTable ({ Schema: schema = '', 'Relation Name': table = '' }: Plan): string {
  const quote = (name: string): string => /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteName(name)
  return `${quote(schema)}.${quote(table)}`
}

const scan = /^(Seq|Index|Index Only) Scan$/
/** Nodes that read no more rows than they need. Others, such as functions, can read any number. */
const bounded = /^(Limit|Result|Append|Merge Append|Nested Loop|Memoize|Subquery Scan|Materialize|Values Scan)$/

/** Whether a node reads a bounded number of rows: rows that have only the tenant's order are sorted as a whole. */
function isBounded (node: Plan, { keys }: Page): boolean {
  const { 'Node Type': type, 'Sort Key': sorted = [], 'Presorted Key': presorted = [] } = node
  if (type !== 'Incremental Sort') return scan.test(type) || bounded.test(type)
  return presorted.length > 1 || sorted.length <= 1 + keys.length
}

/** Whether indexes can serve the pages that every client reads, in any number of rows. */
function askPlanner (
  session: Session, relation: TenantRelation, kind: RowKind, own: readonly OwnFilter[]
): Promise<Finding[]> {
  return session.transaction('explain pages', async (query) => {
    // Until the transaction ends, these settings make the planner use an index in a small table as in a large one.
    await query(`set local enable_seqscan to off; set local enable_bitmapscan to off; set local enable_sort to off;
      set local enable_hashjoin to off; set local enable_mergejoin to off;
      set local cpu_tuple_cost to 100; set local max_parallel_workers_per_gather to 0`)
    const findings: Finding[] = []
    for (const page of listPages(relation, kind, own, findNobody(relation))) {
      if (page.statement === null || ![everyPage, 'sort=updated_at'].includes(page.name)) continue
      const plan = await explain(query, page.statement)
      const nodes = flatten(plan)
      const whole = nodes.find((node) => scan.test(node['Node Type']) && node['Index Cond'] === undefined &&
        node['Parent Relationship'] !== 'InitPlan')
      const others = nodes.filter((node) => !isBounded(node, page)).map((node) => node['Node Type'])
      const other = others.find((type) => !type.endsWith('Sort'))
      if (whole !== undefined || (others.length > 0 && other === undefined)) {
        const rows = whole === undefined ? 'all rows of a tenant' : `all rows of the table ${whole['Relation Name']}`
        findings.push(fault(`${relation.name}: ${page.name} reads ${rows}, because no index serves it`,
          await suggestIndex(query, relation, page, plan)))
      } else if (other !== undefined) {
        findings.push(unknown(
          `${relation.name}: ${page.name} was not judged, because it uses ${other} and there are too few rows`,
          'run the command again in a database with as many rows as in production'))
      }
    }
    return findings
  })
}
