const compactFrom = 1024

/**
 * Items by ascending rank, and by id where the rank is the same. Adding at the end and taking from the front, the
 * common cases, cost the same however long it is. The rank of an item must not change while it is in the queue.
 */
export class SortedQueue<Item extends { readonly id: number }> {
  readonly #rank: (item: Item) => number
  #items: Item[] = []
  // Items before it have been taken. Array.prototype.shift would move a long array every time.
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

  /** Takes an item out; `false` if it was not in the queue. */
  remove (item: Item): boolean {
    const at = this.#position(this.#rank(item), item.id)
    if (this.#items[at] !== item) return false
    if (at === this.#head) this.#dropFirst()
    else this.#items.splice(at, 1)
    return true
  }

  /** How many items have this rank or a lower one. */
  countUpTo (rank: number): number {
    return this.#position(rank, Number.POSITIVE_INFINITY) - this.#head
  }

  /** A copy of what is in the queue, in order. */
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

  // Where an item of this rank and id is, or belongs.
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
