import type { Id, ListQuery, OwnCondition } from '../../../core/ports/index.js'
import type { RowFilter } from '../../../core/ports/lists.js'
import { foldCase } from '../../../core/shared/text.js'
import { type Condition, Conditions, cast, planWithValues, quoteName } from '../sql.js'
import { formatIdAfter, formatIdCondition, formatOrder, formatTenantCondition, type TenantRelation } from './columns.js'
import type { Relation } from './relation.js'
import type { RowKind } from './row-kind.js'

export interface Statement {
  text: string
  values: unknown[]
}

// Beyond this offset, a page reads its ids from an index first, then its rows. Below, that costs more than it saves.
const deepOffset = 500

/** Returns the statement that selects `columns` of a page. Like the functions below, `null` if no row can match. */
export function formatPage (
  relation: TenantRelation, kind: RowKind, columns: string, tenant: string,
  { filter, sort, offset, limit }: ListQuery<object>
): Statement | null {
  const isOfTenant = formatTenantCondition(relation, tenant)
  const where = allOf(isOfTenant, ...filterBy(relation, kind, filter))
  if (isOfTenant === null || where === null) return null
  const { name, tenantColumn } = relation
  const sorted = sort.map(({ field, direction }) => `${formatOrder(relation, field)} ${direction}`)
  const order = `order by r.${tenantColumn} ${sort[0]?.direction ?? 'asc'}, ${sorted.join(', ')}`
  const slice = `limit ${where.bind(limit)}` + (offset === 0 ? '' : ` offset ${where.bind(offset)}`)
  const text =
    offset > deepOffset
      ? `select ${columns}
       from (select id from ${name} r ${where} ${order} ${slice}) as page
       join ${name} r using (id) where ${isOfTenant[0]('$1')}
       ${order}`
      : `select ${columns} from ${name} r ${where} ${order} ${slice}`
  return { text, values: where.values }
}

/** Returns the statement that selects a page and, in the column `totalColumn` of each row, its total. */
export function formatPageAndTotal (
  relation: TenantRelation, kind: RowKind, columns: string, tenant: string, query: ListQuery<object>
): Statement | null {
  const page = formatPage(relation, kind, columns, tenant, query)
  const counted = formatTotal(relation, kind, tenant, query.filter)
  // The parameters of the total are the first ones of the page.
  return page && counted && {
    text: `select counted.total as "${totalColumn}", page.* from (${counted.text}) as counted
      left join lateral (${page.text}) as page on true where ${planWithValues}`,
    values: page.values
  }
}

/** No published field has this name. */
export const totalColumn = 'total of the list'

export function formatTotal (
  relation: TenantRelation, kind: RowKind, tenant: string, filter: object
): Statement | null {
  const where = allOf(formatTenantCondition(relation, tenant), ...filterBy(relation, kind, filter))
  if (where === null) return null
  return {
    text: `select ${cast('count(*)', 'bigint', relation.integerType)} as total from ${relation.name} ${where}`,
    values: where.values
  }
}

/** Returns the statement that selects the rows whose ids meet a condition. */
export function formatFind (
  relation: TenantRelation, columns: string, tenant: string, hasId: Filter
): Statement | null {
  const where = allOf(formatTenantCondition(relation, tenant), hasId)
  return where && { text: `select ${columns} from ${relation.name} ${where} and ${planWithValues}`, values: where.values }
}

/**
 * Returns the statement of the rows after an id, or of the first rows if it is `null`. For a view it selects the ids
 * first: a join in id order would read the joined table from its beginning, and a join with the ids as a table may read
 * all of it.
 */
export function formatPageAfter (
  relation: TenantRelation, columns: string, tenant: string, { after, limit }: { after: Id | null, limit: number }
): Statement | null {
  const isOfTenant = formatTenantCondition(relation, tenant)
  const where = allOf(isOfTenant, ...after === null ? [] : [formatIdAfter(relation, after)])
  if (isOfTenant === null || where === null) return null
  const { name, isIndexable, tenantColumn } = relation
  const order = `order by r.${tenantColumn}, ${formatOrder(relation, 'id')}`
  const slice = `from ${name} r ${where} and ${planWithValues} ${order} limit ${where.bind(limit)}`
  const text = isIndexable
    ? `select ${columns} ${slice}`
    : `select ${columns} from ${name} r
       where ${isOfTenant[0]('$1')} and r.id = any (array(select r.id ${slice})) ${order}`
  return { text, values: where.values }
}

/** `null` is a condition that no row can meet. */
type Filter = Condition | null

function filterBy (relation: Relation, { filters }: RowKind, filter: object): Filter[] {
  const { q: search, ...others } = filters
  const { own = [] }: { own?: readonly OwnCondition[] } = filter
  // PostgreSQL estimates the same cost for all conditions and runs them in this order; `like` is the slowest.
  return [
    ...own.map((condition) => formatCondition(relation, condition, condition.value)),
    ...Object.entries<RowFilter>({ ...others, q: search }).flatMap(([name, declared]) => {
      const wanted: Id | undefined = Reflect.get(filter, name)
      return wanted === undefined ? [] : [formatCondition(relation, declared, wanted)]
    })
  ]
}

function formatCondition (
  relation: Relation, { test, field }: Pick<RowFilter, 'test' | 'field'>, wanted: Id | boolean
): Filter {
  const column = quoteName(field)
  switch (test) {
    case 'id':
    case 'text': return formatIdCondition(relation, field, wanted as Id)
    case 'integer': return [(value) => `${column} = ${value}::bigint`, wanted]
    case 'boolean': return [(value) => `${column} = ${value}::boolean`, wanted]
    // Compares the milliseconds that clients see: otherwise a client gets the newest row again and again.
    case 'after': return [(value) => `${column} >= ${value}::timestamptz + interval '1 millisecond'`, wanted]
    case 'time': return [(value) => `${column} >= ${value}::timestamptz
      and ${column} < ${value}::timestamptz + interval '1 millisecond'`, wanted]
    case 'contains': {
      const text = foldCase(String(wanted))
      return [(value) => `${searchKey(relation, field, text)} like ${value}`, `%${escapeLike(text)}%`]
    }
  }
}

function allOf (...conditions: Filter[]): Conditions | null {
  const possible = conditions.filter((condition) => condition !== null)
  return possible.length === conditions.length ? new Conditions(...possible) : null
}

/**
 * The name in lower case: the column `name_key` if the host has one, because it can be indexed. It may contain both
 * forms of σ, which only matters for searches with this letter.
 */
function searchKey ({ columns, caseCollation }: Relation, field: string, text: string): string {
  const key = columns.has('name_key') ? 'name_key' : `lower(${field} collate ${caseCollation})`
  return text.includes('σ') ? `replace(${key}, 'ς', 'σ')` : key
}

function escapeLike (text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
