import type { SortItem } from '../../ports/index.js'
import type { RunQuery } from '../session.js'
import { Conditions } from '../sql.js'
import { formatAnyTenant, type TenantRelation } from './columns.js'
import type { RowKind } from './row-kind.js'
import { type AnyField, formatPage, type Statement } from './row-statements.js'

/** A plan node of `explain (verbose, format json)`. */
export interface Plan {
  'Node Type': string
  Schema?: string
  'Relation Name'?: string
  Alias?: string
  'Index Cond'?: string
  /** The source of each result column: a column such as `p.id`, or an expression. */
  Output: string[]
  Plans?: Plan[]
}

/** A table's column. Without an alias if the plan has only one table. */
interface PlanColumn {
  alias: string | undefined
  column: string
}

const scans = ['Seq Scan', 'Index Scan', 'Index Only Scan']

/** Returns a statement's plan. The statement is not run. */
async function explain (query: RunQuery, { text, values }: Statement): Promise<Plan> {
  const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`explain (verbose, format json) ${text}`, values)
  if (row === undefined) throw new Error('PostgreSQL returned no plan')
  return row['QUERY PLAN'][0].Plan
}

/** Explains selecting the tenant, the id and `updated_at` of one tenant's rows. */
export function explainKeys (query: RunQuery, relation: TenantRelation): Promise<Plan> {
  const { name, tenantColumn } = relation
  const where = new Conditions(formatAnyTenant(relation))
  return explain(query, { text: `select ${tenantColumn}, id, updated_at from ${name} ${where}`, values: where.values })
}

/** Returns a node and its descendants. */
export function flatten (plan: Plan): Plan[] {
  const { Plans: plans = [] } = plan
  return [plan, ...plans.flatMap(flatten)]
}

/** Whether a node reads a table from its beginning. */
export function isReadWhole ({ 'Node Type': type, 'Index Cond': condition }: Plan): boolean {
  return scans.includes(type) && condition === undefined
}

/** Splits a column such as `p.id` or `"P"."Id"`; `null` for an expression. */
export function readColumn (text: string): PlanColumn | null {
  const match = /^(?:(\w+|"(?:[^"]|"")+")\.)?(\w+|"(?:[^"]|"")+")$/.exec(text)
  return match === null
    ? null
    : { alias: match[1] === undefined ? undefined : unquote(match[1]), column: String(match[2]) }
}

function unquote (name: string): string {
  return name.replace(/^"|"$/g, '').replaceAll('""', '"')
}

/** Tables of up to this many blocks may be read whole: a page of a few rows reads as many. */
const fewBlocks = 40
const orders: ReadonlyArray<ReadonlyArray<SortItem<AnyField>>> = [
  [{ field: 'id', direction: 'asc' }],
  [{ field: 'updated_at', direction: 'desc' }, { field: 'id', direction: 'desc' }]
]

/**
 * Finds the table below a view for which a small tenant's page reads every tenant's rows; `null` if there is none. That
 * happens if the tenant comes from another table: the planner cannot infer that an index contains one tenant's rows in
 * order. Explains an existing tenant's pages and runs none.
 */
export async function findSharedTable (
  query: RunQuery,
  relation: TenantRelation,
  kind: RowKind
): Promise<string | null> {
  const table = await findRowTable(query, relation)
  if (table === null) return null
  const [row] = await query<{ tenant: string | null }>(
    `select ${relation.tenantColumn}::text as tenant from ${relation.name} limit 1`
  )
  const tenant = row?.tenant ?? null
  if (tenant === null) return null
  const columns = [...Object.keys(kind.columns), ...Object.keys(kind.ids)].join(', ')
  for (const sort of orders) {
    const page = formatPage(relation, kind, columns, tenant, { filter: {}, sort, offset: 0, limit: 25 })
    if (page !== null && readsWhole(await explain(query, page), table)) return table
  }
  return null
}

/** Finds the table that `id` comes from; `null` if it is small, or if the tenant does not come from another table. */
async function findRowTable (query: RunQuery, relation: TenantRelation): Promise<string | null> {
  const plan = await explainKeys(query, relation)
  const [tenant = '', id = ''] = plan.Output
  const alias = readColumn(id)?.alias
  const tables = flatten(plan).filter(({ 'Relation Name': name }) => name !== undefined)
  const rows = tables.find((table) => table.Alias === alias)
  const isElsewhere =
    tables.some((table) => table !== rows && mentions(tenant, table.Alias)) || tenant.includes('(SubPlan ')
  if (rows === undefined || !isElsewhere) return null
  const [large] = await query<{ name: string }>(`
    select $2::text as name
    where pg_relation_size(format('%I.%I', $1::text, $2::text)::regclass) > $3 * current_setting('block_size')::bigint`,
  [rows.Schema, rows['Relation Name'], fewBlocks])
  return large?.name ?? null
}

function readsWhole (plan: Plan, table: string): boolean {
  return flatten(plan).some((node) => node['Relation Name'] === table && isReadWhole(node))
}

function mentions (expression: string, alias: string | undefined): boolean {
  return [...expression.matchAll(/(\w+|"(?:[^"]|"")+")\./g)].some(([, name = '']) => unquote(name) === alias)
}

/** Describes a finding of `findSharedTable`. */
export function describeSharedTable ({ name, tenantColumn }: TenantRelation, table: string): string {
  return `${name}: a small tenant's pages read every tenant's rows in ${table}, ` +
    `because ${tenantColumn} is not a column of that table`
}

/** The remedy of a finding of `findSharedTable`. */
export function remedySharedTable ({ tenantColumn }: TenantRelation, table: string): string {
  return tenantColumn === 'tenant_id'
    ? `make tenant_id a column of ${table}`
    : `set the option tenantId, and replace tenant_slug with tenant_id, the tenant's id in ${table}`
}
