import type { CandidateFilter, CandidateSortField, JobFilter, JobSortField, RowSource } from '../../ports/index.js'
import { type ReadValue, assertColumns, readerOf } from './row-columns.js'
import type { RowKind } from './row-kind.js'
import { type Relation, describeRelation } from './relation.js'
import type { Session } from '../session.js'
import { Conditions, cast, orderBy } from '../sql.js'
import { createTotals } from './totals.js'

type AnyFilter = CandidateFilter & JobFilter
type AnyField = CandidateSortField | JobSortField

/** Lists the rows of the host's relation. */
export interface RelationSource<Row, Filter, Field extends string> extends RowSource<Row, Filter, Field> {
  /** Describes the relation again. Throws `storage_not_ready`. */
  describe (): Promise<Relation>
}

/** The expressions that select the fields of a list, and the fields whose values are converted. */
interface Projection {
  columns: string
  readers: Array<[field: string, read: ReadValue]>
}

// Beyond this offset, a page reads its ids from an index first and its rows then. Below, that costs more than it saves.
const deepOffset = 500

/** `sqlName` is the relation as written in SQL; totals are cached for `totalsTtlMs`. */
export function createRowSource<Row, Filter extends AnyFilter, Field extends AnyField> (
  session: Session,
  kind: RowKind,
  sqlName: string,
  totalsTtlMs: number
): RelationSource<Row, Filter, Field> {
  const { option } = kind
  const totals = createTotals(totalsTtlMs)
  const projections = new WeakMap<readonly string[], Projection>()
  let described: Promise<Relation> | null = null

  async function describe (): Promise<Relation> {
    const relation = await describeRelation(session, option, sqlName)
    assertColumns(relation, kind)
    return relation
  }

  // Cached once known; after an error the next list tries again.
  function findRelation (): Promise<Relation> {
    described ??= describe().catch((error: unknown) => {
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
    describe () {
      described = describe()
      described.catch(() => { described = null })
      return described
    },

    async list (tenantSlug, { filter, sort, offset, limit, fields }) {
      const relation = await findRelation()
      const { columns, readers } = findProjection(relation, fields)
      const where = filterBy(relation, kind, tenantSlug, filter)
      const order = orderBy<AnyField>(sort, sortColumns)
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
        const [row] = await session.query<{ total: unknown }>(`count ${option}`,
          `select ${cast('count(*)', 'bigint', relation.integerType)} as total from ${relation.name} ${where}`, where.values)
        return Number(row?.total)
      })
    },

    async find (tenantSlug, id, { fields }) {
      const relation = await findRelation()
      const { columns, readers } = findProjection(relation, fields)
      const where = new Conditions(['tenant_slug = $', tenantSlug], ['id = $::bigint', id])
      const [row] = await session.query<Record<string, unknown>>(`find ${option}`,
        `select ${columns} from ${relation.name} ${where}`, where.values)
      return row === undefined ? null : readRow<Row>(row, readers)
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

// The tenant is always the first parameter. Ids are compared as bigint: they may be out of the range of the column's type.
function filterBy (relation: Relation, kind: RowKind, tenantSlug: string, filter: AnyFilter): Conditions {
  const { recruiterId, status, q, updatedAfter } = filter
  const where = new Conditions(
    ['tenant_slug = $', tenantSlug],
    ['recruiter_id = $::bigint', recruiterId],
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
