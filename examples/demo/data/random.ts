/** A random generator that gives the same values at every start. */
export interface Random {
  /** Returns an integer from `minimum` to `maximum`, both included. */
  integer (minimum: number, maximum: number): number
  /** Returns true with a probability of `share`, 0 to 1. */
  chance (share: number): boolean
  pick<T> (items: readonly T[]): T
}

/** The generator mulberry32: short, and random enough for invented people. */
export function createRandom (seed: number): Random {
  let state = seed

  function next (): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  function integer (minimum: number, maximum: number): number {
    return minimum + Math.floor(next() * (maximum - minimum + 1))
  }

  return {
    integer,
    chance: (share) => next() < share,
    pick (items) {
      const item = items[integer(0, items.length - 1)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    }
  }
}
