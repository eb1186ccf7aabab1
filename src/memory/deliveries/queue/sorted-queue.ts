const compactFrom = 1024

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

  /** Removes an item. Returns `false` if it was not in the queue. */
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

  // Returns the index of the item with this rank and id, or the index to insert it at.
  #position (rank: number, id: number): number {
    let low = this.#head
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const item = this.#items[middle]
      if (item !== undefined && this.#isBefore(item, rank, id)) low = middle + 1
      else high = middle
    }
    return low
  }

  #isBefore (item: Item, rank: number, id: number): boolean {
    const itemRank = this.#rank(item)
    return itemRank < rank || (itemRank === rank && item.id < id)
  }
}
