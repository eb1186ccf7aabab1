/** A map of at most `max` entries that drops the least recently used one. */
export class LruMap<Value> {
  readonly #max: number
  readonly #entries = new Map<string, Value>()

  constructor (max: number) {
    this.#max = max
  }

  get (key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  getOrCreate (key: string, create: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const value = create()
    this.set(key, value)
    return value
  }

  set (key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    const [oldest = ''] = this.#entries.keys()
    if (this.#entries.size > this.#max) this.#entries.delete(oldest)
  }

  delete (key: string): void {
    this.#entries.delete(key)
  }
}
