import type { Id, SortItem } from '../../ports/index.js'
import { compareBy, compareValues } from './page.js'

const maxOrders = 16

/** A row with values computed once for many reads. */
export interface Entry<Row> {
  readonly row: Row
  /** The text that `q` searches, folded. */
  readonly searchKey: string
  /** Whether a field holds an object, which needs a deep copy. */
  readonly isNested: boolean
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

  /** Returns all rows in the order of `sort`, which `id` makes total. */
  sorted (sort: ReadonlyArray<SortItem<Field>>): ReadonlyArray<Entry<Row>> {
    const [first] = sort
    if (first?.field === 'id' && first.direction === 'asc') return this.#byId

    const key = sort.map(({ field, direction }) => `${field} ${direction}`).join()
    const known = this.#orders.get(key)
    if (known !== undefined) return known

    const order = this.#byId.toSorted(compareBy(sort, (entry, field) => entry.row[field]))
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

  // Returns the index of the row with this id, or the index to insert it at.
  #position (id: Id): number {
    let low = 0
    let high = this.#byId.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.#byId[middle]
      if (entry !== undefined && compareValues(entry.row.id, id) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
