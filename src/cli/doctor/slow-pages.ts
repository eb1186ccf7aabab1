import type { PgPool, PgQueryable } from '../../postgres/index.js'
import { needsCollation } from '../../postgres/lists/id-columns.js'
import type { Relation } from '../../postgres/lists/relation.js'
import { ask } from '../../postgres/session.js'
import { inTransaction } from '../database.js'
import { type Finding, fault } from './finding.js'

/** A node of a plan, as `explain (verbose, format json)` shows it. */
interface Plan {
  'Node Type': string
  Schema?: string
  'Relation Name'?: string
  Alias?: string
  'Index Cond'?: string
  /** For each column of the result, the column that it comes from, such as `p.id`, or an expression. */
  Output: string[]
  Plans?: Plan[]
}

/** A column of an index, in the order of code points if `isInC`. */
interface Key {
  column: string
  isInC: boolean
}

type Found = Array<Omit<Finding, 'check'>>

const scans = ['Seq Scan', 'Index Scan', 'Index Only Scan']

/** Finds the lists that no index serves. Asks the planner, which knows the tables beneath a view. */
export async function findSlowPages (pool: PgPool, relation: Relation): Promise<Found> {
  const { name } = relation
  return inTransaction(pool, async (client) => {
    const plan = await explain(client, name)
    const tables = flatten(plan).filter(({ 'Relation Name': table }) => table !== undefined)
    const columns = plan.Output.map(readColumn)
    // Columns have no alias if there is one table alone.
    const table = tables.find(({ Alias: alias }) => columns.every((column) => column !== null && (column.alias ?? alias) === alias))
    return table !== undefined
      ? checkIndexes(client, relation, table, columns.map((column) => String(column?.column)))
      : tables.filter(isReadWhole).map(({ 'Relation Name': whole }) => fault(`${name}: every page reads the whole table ${whole}`,
        `create an index of ${whole} that begins with the column by which the view finds the rows of a tenant`))
  })
}

/** With other ways switched off, the planner scans a table only where no index helps. Nothing is read. */
async function explain (client: PgQueryable, name: string): Promise<Plan> {
  await client.query('set local enable_seqscan to off; set local enable_hashjoin to off; set local enable_mergejoin to off')
  const [row] = await ask<{ 'QUERY PLAN': [{ Plan: Plan }] }>(client, `
    explain (verbose, format json) select tenant_slug, id, updated_at from ${name} where tenant_slug = 'acme'`)
  return row?.['QUERY PLAN'][0].Plan as Plan
}

/** Looks for an index for the order of `id` and one for that of `updated_at`. Columns are quoted where they must be. */
async function checkIndexes (client: PgQueryable, relation: Relation, { Schema: schema, 'Relation Name': table }: Plan, [tenant, id, updatedAt]: string[]): Promise<Found> {
  const rows = await ask<{ keys: string }>(client, `
    select (
      select json_agg(json_build_object('column', pg_get_indexdef(i.indexrelid, n, true), 'isInC', i.indcollation[n - 1] = '"C"'::regcollation) order by n)
      from generate_series(1, i.indnkeyatts) n
    )::text as keys
    from pg_index i where i.indrelid = format('%I.%I', $1::text, $2::text)::regclass and i.indisvalid and i.indpred is null`, [schema, table])
  const indexes = rows.map(({ keys }) => JSON.parse(keys) as Key[])
  const inC = needsCollation(relation, 'id')
  const idKey = inC ? `${id} collate "C"` : id
  const serves = (column: string | undefined, isText: boolean) => ([first, second]: Key[]): boolean =>
    first?.column === tenant && second?.column === column && (!isText || second?.isInC === true)

  const findings: Found = []
  if (!indexes.some(serves(id, inC))) {
    findings.push(fault(`${relation.name}: every page reads all rows of a tenant, or of the table ${table}`,
      `create index on ${schema}.${table} (${tenant}, ${idKey})`))
  }
  if (!indexes.some(serves(updatedAt, false))) {
    findings.push(fault(`${relation.name}: filter[updated_after] and sorting by updated_at read all rows of a tenant, or of the table ${table}`,
      `create index on ${schema}.${table} (${tenant}, ${updatedAt}, ${idKey})`))
  }
  return findings
}

function isReadWhole ({ 'Node Type': type, 'Index Cond': condition }: Plan): boolean {
  return scans.includes(type) && condition === undefined
}

function flatten (plan: Plan): Plan[] {
  const { Plans: plans = [] } = plan
  return [plan, ...plans.flatMap(flatten)]
}

/** Splits a column such as `p.id` or `"P"."Id"`; `null` for an expression. */
function readColumn (text: string): { alias: string | undefined, column: string } | null {
  const match = /^(?:(\w+|"(?:[^"]|"")+")\.)?(\w+|"(?:[^"]|"")+")$/.exec(text)
  return match === null ? null : { alias: match[1]?.replace(/^"|"$/g, '').replaceAll('""', '"'), column: String(match[2]) }
}
