import type { Id, ListSource, OwnCondition, SortItem } from '../../../core/ports/index.js'
import type { RowFilter, RowFilters } from '../../../core/ports/lists.js'
import { RecruitingApiError } from '../../../core/shared/errors.js'
import { foldCase, normalizeInstant } from '../../../core/shared/text.js'
import { isRecord, parseTenant, reject } from '../checks.js'
import { compareBy, compareValues, findPlace, type RowTest, select, takePage } from '../sorting.js'

/** Methods to change rows, for demos and tests. The next page shows the change. */
export interface EditableRows<Input extends { id: Id }> {
  /**
   * Inserts a row, or replaces the whole row with the same id. Creates the tenant if it does not exist. Throws
   * `RecruitingApiError` (`invalid_option`) for a malformed row.
   */
  save (tenant: string, row: Input): void
  /** Removes a row. Returns `false` if there was none. */
  remove (tenant: string, id: Input['id']): boolean
}

/** Returns whole rows, so queries do not select fields. */
export interface WholeRows<Row extends { id: Id }, Filter, Field extends string> extends ListSource<
  Row,
  Filter,
  Field
> {
  /** Returns one row of the tenant; `null` if there is none with this id. */
  find(tenant: string, id: Row['id']): Promise<Row | null>
  /**
   * Returns up to `limit` rows of the tenant with ids above `after`, or the first ones if it is `null`, by ascending
   * id.
   */
  listAfter(tenant: string, query: { after: Row['id'] | null; limit: number }): Promise<Row[]>
  /** Returns the row of each id, or `null`, in the order of the ids. */
  findMany(tenant: string, ids: ReadonlyArray<Row['id']>): Promise<Array<Row | null>>
  ownFilters: true
}

/** The parts of a row source that are specific to one resource. */
export interface RowKind<Row> {
  /** Checks the known fields and fills in absent ones. */
  parse (fields: Record<string, unknown>, path: string, now: number): Row
  filters: RowFilters
}

/** The initial rows of one tenant, and their path in the options. */
export interface InitialRows {
  tenant: string
  rows: unknown
  path: string
}

/** The parts of its storage that a row source uses. */
export interface RowSourceContext {
  now: () => number
  /** Called for each row that is saved or removed. */
  onChange (tenant: string, id: Id): void
}

const maxOrders = 16

/** A row with values computed once for many reads. */
export interface Entry<Row> {
  readonly row: Row
  /** The text that `q` searches, folded. */
  readonly searchKey: string
}

/** A row whose sortable fields are never null. */
export type SortableRow<Field extends string> = { id: Id } & Record<Field, string | number>

/** The rows of one tenant, with a cache of recently used orders. */
export class Table<Row extends SortableRow<Field>, Field extends string> {
  readonly #byId: Array<Entry<Row>> = []
  readonly #orders = new Map<string, Array<Entry<Row>>>()

  /** Returns all rows by ascending id. */
  get entries (): ReadonlyArray<Entry<Row>> {
    return this.#byId
  }

  find (id: Id): Entry<Row> | undefined {
    const entry = this.#byId[this.#position(id)]
    return entry?.row.id === id ? entry : undefined
  }

  has (id: Id): boolean {
    return this.find(id) !== undefined
  }

  /** Returns up to `limit` rows with ids above `id`, or the first ones, by ascending id. */
  after (id: Id | null, limit: number): ReadonlyArray<Entry<Row>> {
    const start = id === null ? 0 : this.#position(id) + (this.has(id) ? 1 : 0)
    return this.#byId.slice(start, start + limit)
  }

  /** Inserts a row, or replaces the one with the same id. */
  save (entry: Entry<Row>): void {
    const { id } = entry.row
    this.#byId.splice(this.#position(id), this.has(id) ? 1 : 0, entry)
    this.#orders.clear()
  }

  remove (id: Id): boolean {
    if (!this.has(id)) return false
    this.#byId.splice(this.#position(id), 1)
    this.#orders.clear()
    return true
  }

  /** Returns all rows in the order of `sort`, which contains `id`, so that no rows tie. */
  sorted (sort: ReadonlyArray<SortItem<Field>>): ReadonlyArray<Entry<Row>> {
    const [first] = sort
    if (first?.field === 'id' && first.direction === 'asc') return this.#byId

    const key = sort.map(({ field, direction }) => `${field} ${direction}`).join()
    const known = this.#orders.get(key)
    if (known !== undefined) return known

    const times = sort.flatMap(({ field, type }) => type === 'time' ? [field] : [])
    const order = this.#byId.toSorted(compareBy(sort, ({ row }, field) =>
      times.includes(field) ? toInstant(row[field]) ?? '' : row[field]))
    this.#remember(key, order)
    return order
  }

  #remember (key: string, order: Array<Entry<Row>>): void {
    for (const oldest of this.#orders.keys()) {
      if (this.#orders.size < maxOrders) break
      this.#orders.delete(oldest)
    }
    this.#orders.set(key, order)
  }

  // Returns the index of the row with this id, or where to insert it.
  #position (id: Id): number {
    return findPlace(this.#byId, ({ row }) => compareValues(row.id, id) < 0)
  }
}

/** Creates a source of rows of one resource. Rows are copied when they are saved, and frozen. */
export function createRowSource<
  Input extends { id: Id }, Row extends SortableRow<Field>, Filter extends object, Field extends string
> (
  kind: RowKind<Row>, { now, onChange }: RowSourceContext, initial: readonly InitialRows[]
): WholeRows<Row, Filter, Field> & EditableRows<Input> {
  const tables = new Map<string, Table<Row, Field>>()
  for (const { tenant, rows, path } of initial) tables.set(tenant, createTable(kind, rows, path, now()))

  const empty = new Table<Row, Field>()

  return {
    ...readTables(kind, (tenant) => tables.get(tenant) ?? empty),

    save (tenant, row) {
      parseTenant(tenant, 'tenant')
      const entry = createEntry(kind, row, 'row', now())
      const table = tables.get(tenant) ?? new Table()
      table.save(entry)
      tables.set(tenant, table)
      onChange(tenant, entry.row.id)
    },

    remove (tenant, id) {
      const isRemoved = tables.get(tenant)?.remove(id) ?? false
      if (isRemoved) onChange(tenant, id)
      return isRemoved
    }
  }
}

export function readTables<Row extends SortableRow<Field>, Filter extends object, Field extends string> (
  { filters }: RowKind<Row>, findTable: (tenant: string) => Table<Row, Field> | Promise<Table<Row, Field>>
): WholeRows<Row, Filter, Field> {
  return {
    ownFilters: true,

    async list (tenant, { filter, sort, offset, limit }) {
      const table = await findTable(tenant)
      return takePage(table.sorted(sort), createTest<Row>(filters, filter), { offset, limit }).map(rowOf)
    },

    async count (tenant, filter) {
      return select((await findTable(tenant)).entries, createTest<Row>(filters, filter)).length
    },

    async find (tenant, id) {
      return (await findTable(tenant)).find(id)?.row ?? null
    },

    async listAfter (tenant, { after, limit }) {
      return (await findTable(tenant)).after(after, limit).map(rowOf)
    },

    async findMany (tenant, ids) {
      const table = await findTable(tenant)
      return ids.map((id) => table.find(id)?.row ?? null)
    }
  }
}

function rowOf<Row> ({ row }: Entry<Row>): Row {
  return row
}

function createTest<Row extends object> (filters: RowFilters, filter: object): RowTest<Entry<Row>> {
  const { own = [], ...others }: { own?: readonly OwnCondition[] } = filter
  const tests = [
    ...own.map((condition) => createFieldTest<Row>(condition, condition.value, toInstant)),
    ...Object.entries(others).flatMap(([name, wanted]: [string, unknown]) =>
      wanted === undefined ? [] : [createFieldTest<Row>(Reflect.get(filters, name), wanted)])
  ]
  const [only = null] = tests
  return tests.length <= 1 ? only : (entry) => tests.every((passes) => passes(entry))
}

function createFieldTest<Row extends object> (
  { test, field }: Pick<RowFilter, 'test' | 'field'>,
  wanted: unknown,
  toTime: (value: unknown) => string | null = String
): (entry: Entry<Row>) => boolean {
  const read = ({ row }: Entry<Row>): unknown => Reflect.get(row, field)
  switch (test) {
    case 'id':
    case 'text':
    case 'integer':
    case 'boolean': return (entry) => read(entry) === wanted
    case 'time': return (entry) => toTime(read(entry)) === wanted
    case 'contains': {
      const needle = foldCase(String(wanted))
      return ({ searchKey }) => searchKey.includes(needle)
    }
    case 'after': return (entry) => (toTime(read(entry)) ?? '') > String(wanted)
  }
}

/** Returns a date-time of an own field in UTC with milliseconds; `null` for anything else. */
function toInstant (value: unknown): string | null {
  return normalizeInstant(String(value))
}

/**
 * Checks the rows of one tenant and returns their table. Throws `RecruitingApiError` (`invalid_option`) for a malformed
 * row.
 */
export function createTable<Row extends SortableRow<Field>, Field extends string> (
  kind: RowKind<Row>, rows: unknown, path: string, now: number
): Table<Row, Field> {
  if (!Array.isArray(rows)) reject(path, 'an array', rows)
  const table = new Table<Row, Field>()
  rows.forEach((row: unknown, index) => {
    const entry = createEntry(kind, row, `${path}[${index}]`, now)
    if (table.has(entry.row.id)) reject(`${path}[${index}].id`, 'an id that no other row has', entry.row.id)
    table.save(entry)
  })
  return table
}

function createEntry<Row extends object> (
  kind: RowKind<Row>, input: unknown, path: string, now: number
): Entry<Row> {
  if (!isRecord(input)) reject(path, 'an object', input)
  const fields = Object.values(input).some(isReference) ? copyDeep(input, path) : input
  const known = kind.parse(fields, path, now)

  const row = freeze(Object.assign(known, omitFields(fields, known)))
  return { row, searchKey: foldCase(String(Reflect.get(row, kind.filters.q.field))) }
}

function omitFields (fields: Record<string, unknown>, omitted: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) =>
    name !== '__proto__' && !Object.hasOwn(omitted, name)))
}

/** Freezes plain data, so that callers can share it. */
function freeze<Value> (value: Value): Value {
  if (isReference(value) && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value)
    for (const member of Object.values(value as object)) freeze(member)
  }
  return value
}

function copyDeep (input: Record<string, unknown>, path: string): Record<string, unknown> {
  try {
    return structuredClone({ ...input })
  } catch {
    throw new RecruitingApiError('invalid_option', `${path}: expected fields with plain data`, path)
  }
}

function isReference (value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function' || typeof value === 'symbol'
}
