/** Random numbers from a seed. */
export interface Random {
  /** Returns a number from 0 to less than 1. */
  next (): number
  /** Returns an integer from `least` to `most`. */
  integer (least: number, most: number): number
  chance (probability: number): boolean
  pick<Item> (items: readonly Item[]): Item
  /** Picks a name by its weight. */
  weighted<Name extends string> (weights: Readonly<Record<Name, number>>): Name
}

/** The generator mulberry32. */
export function createRandom (seed: number): Random {
  let state = seed >>> 0

  function next (): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const random: Random = {
    next,
    integer: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    pick<Item> (items: readonly Item[]) {
      return items[random.integer(0, items.length - 1)] as Item
    },
    weighted<Name extends string> (weights: Readonly<Record<Name, number>>) {
      const entries = Object.entries<number>(weights) as Array<[Name, number]>
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0] as [Name, number])[0]
    }
  }
  return random
}
