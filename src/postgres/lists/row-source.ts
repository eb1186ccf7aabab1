import type { CandidateFilter, CandidateSortField, Id, IdKinds, JobFilter, JobSortField, RowSource } from '../../ports/index.js'
import { formatIdAfter, formatIdAmong, formatIdCondition, formatIdOrder, needsCollation, normalizeId } from './id-columns.js'
import { type ReadValue, assertColumns, readerOf } from './row-columns.js'
import type { RowKind } from './row-kind.js'
import { type Relation, describeRelation } from './relation.js'
import type { Session } from '../session.js'
import { Conditions, cast, orderBy } from '../sql.js'
import { createTotals } from './totals.js'

type AnyFilter = CandidateFilter<Id> & JobFilter
type AnyField = CandidateSortField | JobSortField

/** Lists the rows of the host's relation. */
export interface RelationSource<Row extends { id: Id }, Filter, Field extends string> extends RowSource<Row, Filter, Field> {
  /** Describes the relation again and checks that its ids are of these kinds. Throws `storage_not_ready`. */
  describe (kinds: IdKinds): Promise<Relation>
}

/** The expressions that select the fields of a list, and the fields whose values are converted. */
interface Projection {
  columns: string
  readers: Array<[field: string, read: ReadValue]>
}

// Beyond this offset, a page reads its ids from an index first and its rows then. Below, that costs more than it saves.
const deepOffset = 500

/** `sqlName` is the relation as written in SQL; totals are cached for `totalsTtlMs`. */
export function createRowSource<Row extends { id: Id }, Filter extends AnyFilter, Field extends AnyField> (
  session: Session,
  kind: RowKind,
  sqlName: string,
  totalsTtlMs: number
): RelationSource<Row, Filter, Field> {
  const { option } = kind
  const totals = createTotals(totalsTtlMs)
  const projections = new WeakMap<readonly string[], Projection>()
  let described: Promise<Relation> | null = null

  async function describe (kinds: IdKinds | null): Promise<Relation> {
    const relation = await describeRelation(session, option, sqlName)
    assertColumns(relation, kind, kinds)
    return relation
  }

  // Cached once known; after an error the next list tries again.
  function findRelation (): Promise<Relation> {
    described ??= describe(null).catch((error: unknown) => {
      described = null
      throw error
    })
    return described
  }

  function findProjection (relation: Relation, fields: readonly string[]): Projection {
    const known = projections.get(fields)
    if (known !== undefined) return known
    const selected = fields.map((field) => readerOf(relation, option, field))
    const projection: Projection = {
      columns: selected.map(({ expression }) => expression).join(', '),
      readers: selected.flatMap(({ field, read }) => read === null ? [] : [[field, read]])
    }
    projections.set(fields, projection)
    return projection
  }

  return {
    describe (kinds) {
      described = describe(kinds)
      described.catch(() => { described = null })
      return described
    },

    async list (tenantSlug, { filter, sort, offset, limit, fields }) {
      const relation = await findRelation()
      const { columns, readers } = findProjection(relation, fields)
      const where = filterBy(relation, kind, tenantSlug, filter)
      if (where === null) return []
      const order = orderBy<AnyField>(sort, needsCollation(relation, 'id') ? textIdSortColumns : sortColumns)
      const slice = `limit ${where.bind(limit)}` + (offset === 0 ? '' : ` offset ${where.bind(offset)}`)
      const text = offset > deepOffset
        ? `select ${columns}
           from (select id from ${relation.name} r ${where} ${order} ${slice}) as page
           join ${relation.name} r using (id) where tenant_slug = $1
           ${order}`
        : `select ${columns} from ${relation.name} r ${where} ${order} ${slice}`
      const rows = await session.query<Record<string, unknown>>(`list ${option}`, text, where.values)
      return rows.map((row) => readRow<Row>(row, readers))
    },

    count (tenantSlug, filter) {
      return totals.share([tenantSlug, filter], async () => {
        const relation = await findRelation()
        const where = filterBy(relation, kind, tenantSlug, filter)
        if (where === null) return 0
        const [row] = await session.query<{ total: unknown }>(`count ${option}`,
          `select ${cast('count(*)', 'bigint', relation.integerType)} as total from ${relation.name} ${where}`, where.values)
        return Number(row?.total)
      })
    },

    async find (tenantSlug, id, { fields }) {
      const relation = await findRelation()
      const { columns, readers } = findProjection(relation, fields)
      const isRow = formatIdCondition(relation, 'id', id)
      if (isRow === null) return null
      const where = new Conditions(['tenant_slug = $', tenantSlug], isRow)
      const [row] = await session.query<Record<string, unknown>>(`find ${option}`,
        `select ${columns} from ${relation.name} ${where}`, where.values)
      return row === undefined ? null : readRow<Row>(row, readers)
    },

    async listAfter (tenantSlug, { after, limit, fields }) {
      const relation = await findRelation()
      const { columns, readers } = findProjection(relation, fields)
      const isAfter = after === null ? [] : [formatIdAfter(relation, after)]
      if (!isAfter.every((condition) => condition !== null)) return []
      const where = new Conditions(['tenant_slug = $', tenantSlug], ...isAfter)
      const rows = await session.query<Record<string, unknown>>(`list ${option} by id`,
        `select ${columns} from ${relation.name} r ${where} order by ${formatIdOrder(relation)} limit ${where.bind(limit)}`, where.values)
      return rows.map((row) => readRow<Row>(row, readers))
    },

    async findMany (tenantSlug, ids, { fields }) {
      const relation = await findRelation()
      const { columns, readers } = findProjection(relation, fields)
      const where = new Conditions(['tenant_slug = $', tenantSlug], formatIdAmong(relation, ids))
      const rows = await session.query<Record<string, unknown>>(`find many ${option}`,
        `select ${columns} from ${relation.name} ${where}`, where.values)
      const found = new Map(rows.map((row) => readRow<Row>(row, readers)).map((row) => [row.id, row]))
      return ids.map((id) => found.get(normalizeId(relation, id)) ?? null)
    }
  }
}

const sortColumns: Record<AnyField, string> = {
  id: 'r.id',
  full_name: 'r.full_name collate "C"',
  name: 'r.name collate "C"',
  status: 'r.status collate "C"',
  created_at: 'r.created_at',
  updated_at: 'r.updated_at'
}

const textIdSortColumns: typeof sortColumns = { ...sortColumns, id: 'r.id collate "C"' }

// The tenant is always the first parameter. Returns `null` if no row can pass the filter.
function filterBy (relation: Relation, kind: RowKind, tenantSlug: string, filter: AnyFilter): Conditions | null {
  const { recruiterId, status, q, updatedAfter } = filter
  const isRecruiter = recruiterId === undefined ? undefined : formatIdCondition(relation, 'recruiter_id', recruiterId)
  if (isRecruiter === null) return null
  const where = new Conditions(
    ['tenant_slug = $', tenantSlug],
    ...isRecruiter === undefined ? [] : [isRecruiter],
    ['status = $', status],
    ['updated_at > $::timestamptz', updatedAfter]
  )
  if (q !== undefined) where.add(`${searchKey(relation, kind)} like $`, `%${escapeLike(q.toLowerCase())}%`)
  return where
}

/** The name in lower case: the column `name_key` if the host has one, because an index can hold it. */
function searchKey ({ columns, caseCollation }: Relation, { searched }: RowKind): string {
  return columns.has('name_key') ? 'name_key' : `lower(${searched} collate ${caseCollation})`
}

function escapeLike (text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

// Changes the driver's row in place.
function readRow<Row> (row: Record<string, unknown>, readers: Projection['readers']): Row {
  for (const [field, read] of readers) {
    const value = row[field]
    if (value !== null) row[field] = read(value)
  }
  // assertColumns has checked the types of the columns.
  return row as Row
}
