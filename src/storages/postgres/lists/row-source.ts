import type { Id, IdKinds, RowFields, RowPage, RowQuery, RowSource } from '../../../core/ports/index.js'
import type { Session } from '../session.js'
import { findTenantColumn, formatIdAmong, formatIdCondition, normalizeId, type TenantRelation } from './columns.js'
import { describeRelation } from './relation.js'
import { assertColumns, readerOf, type ReadValue, type RowKind } from './row-kind.js'
import {
  formatFind, formatPage, formatPageAfter, formatPageAndTotal, formatTotal, totalColumn, type Statement
} from './row-statements.js'
import { LruMap } from '../../../core/shared/cached.js'

export interface RelationSource<Row extends { id: Id }, Filter, Field extends string>
  extends RowSource<Row, Filter, Field> {
  /** Describes the relation again and checks its columns. Throws `storage_not_ready`. */
  describe(kinds: IdKinds, hasTenantIds: boolean): Promise<TenantRelation>
}

/** The expressions that select a list's fields, and the fields whose values are converted. */
interface Projection {
  columns: string
  readers: Array<[field: string, read: ReadValue]>
}

/** `sqlName` is the relation as written in SQL; totals are cached for `totalsTtlMs`. */
export function createRowSource<Row extends { id: Id }, Filter extends object, Field extends string> (
  session: Session, kind: RowKind, sqlName: string, totalsTtlMs: number
): RelationSource<Row, Filter, Field> {
  const { option } = kind
  const shareTotal = createTotals(totalsTtlMs)
  const projections = new Map<string, Projection>()
  let described: Promise<TenantRelation> | null = null

  async function describe (kinds: IdKinds | null, hasTenantIds: boolean | null): Promise<TenantRelation> {
    const relation = await describeRelation(session, option, sqlName)
    const checked = findTenantColumn(relation, option, hasTenantIds)
    assertColumns(relation, kind, kinds)
    projections.clear()
    return checked
  }

  // Cached after the first success. After an error, the next call tries again.
  function findRelation (): Promise<TenantRelation> {
    described ??= describe(null, null).catch((error: unknown) => {
      described = null
      throw error
    })
    return described
  }

  function findProjection (relation: TenantRelation, { fields, textFields = [] }: RowFields): Projection {
    const key = JSON.stringify([fields, textFields])
    const known = projections.get(key)
    if (known !== undefined) return known
    const selected = fields.map((field) => readerOf(relation, option, field, textFields.includes(field)))
    const projection: Projection = {
      columns: selected.map(({ expression }) => expression).join(', '),
      readers: selected.flatMap(({ field, read }) => read === null ? [] : [[field, read]])
    }
    projections.set(key, projection)
    return projection
  }

  /** Runs a statement that selects fields. Skips the query if no row can match. */
  async function readRows (
    operation: string, selected: RowFields,
    format: (relation: TenantRelation, columns: string) => Statement | null, run: 'query' | 'prepared' = 'prepared'
  ): Promise<Row[]> {
    const relation = await findRelation()
    const { columns, readers } = findProjection(relation, selected)
    const statement = format(relation, columns)
    if (statement === null) return []
    const rows = await session[run]<Record<string, unknown>>(operation, statement.text, statement.values)
    return rows.map((row) => readRow<Row>(row, readers, selected))
  }

  async function page (tenant: string, query: RowQuery<Filter, Field>): Promise<RowPage<Row>> {
    // Clients choose filters and orders, so there are many texts.
    const isUsual = Object.keys(query.filter).length === 0 && query.sort.length <= 2
    const rows = await readRows(`page of ${option}`, query, (relation, columns) =>
      formatPageAndTotal(relation, kind, columns, tenant, query), isUsual ? 'prepared' : 'query')
    const [first] = rows
    if (first === undefined) return { rows, total: 0 }
    const { id, [totalColumn]: total } = first as Record<string, unknown>
    return { rows: id === null ? [] : rows, total: Number(total) }
  }

  return {
    ownFilters: true,

    // A total that is cached needs no statement.
    ...totalsTtlMs === 0 ? { page } : {},

    describe (kinds, hasTenantIds) {
      described = describe(kinds, hasTenantIds)
      described.catch(() => { described = null })
      return described
    },

    list: (tenant, query) => readRows(`list ${option}`, query, (relation, columns) =>
      formatPage(relation, kind, columns, tenant, query), 'query'),

    count (tenant, filter) {
      return shareTotal([tenant, filter], async () => {
        const statement = formatTotal(await findRelation(), kind, tenant, filter)
        if (statement === null) return 0
        const [row] = await session.query<{ total: unknown }>(`count ${option}`, statement.text, statement.values)
        return Number(row?.total)
      })
    },

    async find (tenant, id, selected) {
      const [row] = await readRows(`find ${option}`, selected, (relation, columns) =>
        formatFind(relation, columns, tenant, formatIdCondition(relation, 'id', id)))
      return row ?? null
    },

    listAfter: (tenant, query) => readRows(`list ${option} by id`, query, (relation, columns) =>
      formatPageAfter(relation, columns, tenant, query)),

    async findMany (tenant, ids, selected) {
      const relation = await findRelation()
      const rows = await readRows(`find many ${option}`, selected, (_relation, columns) =>
        formatFind(relation, columns, tenant, formatIdAmong(relation, ids)))
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => found.get(normalizeId(relation, id)) ?? null)
    }
  }
}

// Changes the driver's row in place.
function readRow<Row> (
  row: Record<string, unknown>, readers: Projection['readers'], { onInexactNumber }: RowFields
): Row {
  for (const [field, read] of readers) {
    const value = row[field]
    if (value !== null) row[field] = read(value, () => onInexactNumber?.(String(row.id), field))
  }
  // assertColumns has checked the types of the columns.
  return row as Row
}

const maxTotals = 1000

/**
 * Returns a function that returns the total of a subject, which is JSON: the cached one for `ttlMs`, otherwise the
 * result of `count`, which concurrent requests share. A `ttlMs` of 0 disables the cache.
 */
function createTotals (ttlMs: number): (subject: unknown, count: () => Promise<number>) => Promise<number> {
  const kept = new LruMap<{ total: Promise<number>, until: number }>(maxTotals)

  return (subject, count) => {
    if (ttlMs === 0) return count()
    const key = JSON.stringify(subject)
    const known = kept.get(key)
    if (known !== undefined && performance.now() < known.until) return known.total

    const entry = { total: count(), until: Number.POSITIVE_INFINITY }
    kept.set(key, entry)
    entry.total.then(
      () => { entry.until = performance.now() + ttlMs },
      // After an error the next request counts again.
      () => { entry.until = 0 }
    )
    return entry.total
  }
}
