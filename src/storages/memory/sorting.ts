import type { SortItem } from '../../core/ports/index.js'

const firstSurrogate = 0xd800
const firstAfterSurrogates = 0xe000
const compactFrom = 1024

/**
 * Compares two strings by Unicode code point. The operator `<` compares UTF-16 units instead, which puts characters
 * above U+FFFF (surrogate pairs) before those from U+E000 to U+FFFF.
 */
export function compareText (a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i)
    const unitB = b.charCodeAt(i)
    if (unitA !== unitB) return rankUnit(unitA) - rankUnit(unitB)
  }
  return a.length - b.length
}

/** Returns a comparison function for a sort order; `read` returns the value of a field. */
export function compareBy<Row, Field extends string> (
  sort: ReadonlyArray<SortItem<Field>>, read: (row: Row, field: Field) => string | number
): (a: Row, b: Row) => number {
  return (a, b) => {
    let order = 0
    for (const { field, direction } of sort) {
      order = compareValues(read(a, field), read(b, field)) * (direction === 'asc' ? 1 : -1)
      if (order !== 0) break
    }
    return order
  }
}

// Ranks surrogates above all other units.
function rankUnit (unit: number): number {
  return unit >= firstSurrogate && unit < firstAfterSurrogates ? unit + 0x10000 : unit
}

/** Compares numbers by value and text by code point. */
export function compareValues (a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
}

/** Returns whether a row passes a filter. Every row passes `null`. */
export type RowTest<Row> = ((row: Row) => boolean) | null

export function select<Row> (rows: readonly Row[], test: RowTest<Row>): readonly Row[] {
  return test === null ? rows : rows.filter(test)
}

export function takePage<Row> (
  rows: readonly Row[], test: RowTest<Row>, { offset, limit }: { offset: number, limit: number }
): Row[] {
  return select(rows, test).slice(offset, offset + limit)
}

/** Returns the index of the first item in a sorted array, at `from` or later, that is not before a place. */
export function findPlace<Item> (items: readonly Item[], isBefore: (item: Item) => boolean, from = 0): number {
  let low = from
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = items[middle]
    if (item !== undefined && isBefore(item)) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * A queue of items by ascending rank, then by id. Adding at the end and taking from the front take constant time. The
 * rank of an item must not change while it is in the queue.
 */
export class SortedQueue<Item extends { readonly id: number }> {
  readonly #rank: (item: Item) => number
  #items: Item[] = []
  // The index of the first item. Removing from the front of a long array would move all other items.
  #head = 0

  constructor (rank: (item: Item) => number) {
    this.#rank = rank
  }

  get size (): number {
    return this.#items.length - this.#head
  }

  get first (): Item | undefined {
    return this.#items[this.#head]
  }

  add (item: Item): void {
    const last = this.#items.at(-1)
    if (last === undefined || this.#isBefore(last, this.#rank(item), item.id)) this.#items.push(item)
    else this.#items.splice(this.#position(this.#rank(item), item.id), 0, item)
  }

  shift (): Item | undefined {
    const item = this.first
    if (item !== undefined) this.#dropFirst()
    return item
  }

  remove (item: Item): boolean {
    const at = this.#position(this.#rank(item), item.id)
    if (this.#items[at] !== item) return false
    if (at === this.#head) this.#dropFirst()
    else this.#items.splice(at, 1)
    return true
  }

  /** Counts the items with this rank or a lower one. */
  countUpTo (rank: number): number {
    return this.#position(rank, Number.POSITIVE_INFINITY) - this.#head
  }

  toArray (): Item[] {
    return this.#items.slice(this.#head)
  }

  #dropFirst (): void {
    this.#head++
    if (this.#head === this.#items.length || (this.#head >= compactFrom && this.#head * 2 >= this.#items.length)) {
      this.#items = this.toArray()
      this.#head = 0
    }
  }

  // Returns the index of the item with this rank and id, or where to insert it.
  #position (rank: number, id: number): number {
    return findPlace(this.#items, (item) => this.#isBefore(item, rank, id), this.#head)
  }

  #isBefore (item: Item, rank: number, id: number): boolean {
    const itemRank = this.#rank(item)
    return itemRank < rank || (itemRank === rank && item.id < id)
  }
}
