import type { Random } from '../../../examples/demo/data/random.js'
import type { Copy } from '../../../examples/mirror/sync.js'
import type { ProofKind, Versions } from './world.js'

/** Simulates a killed reader. */
export class Crash extends Error {}

export type ProofCopy = ReturnType<typeof createProofCopy>

/** Creates a copy that crashes at random before or after it saves a page. Saved pages stay. */
export function createProofCopy (kind: ProofKind, random: Random) {
  const items = new Map<number, { version: number, generation: number }>()
  const newest: Versions = new Map()
  let token: string | null = null
  let generation = 1
  let olderStates = 0
  let crashes = 0
  let crashShare = 0.05

  function crash (): void {
    if (!random.chance(crashShare)) return
    crashes++
    throw new Crash()
  }

  function store (id: number, item: object | null): void {
    if (item === null) {
      items.delete(id)
      return
    }
    const version = Number(Reflect.get(item, 'version'))
    if (version < (newest.get(id) ?? 0)) olderStates++
    newest.set(id, version)
    items.set(id, { version, generation })
  }

  return {
    get token () { return token },
    save ({ data, meta }: Parameters<Copy['save']>[0]) {
      crash()
      for (const item of data) store(Number(item.id), item.deleted ? null : (item[kind] ?? null) as object | null)
      token = meta.next_token
      if (!meta.has_more) for (const [id, item] of items) if (item.generation < generation) items.delete(id)
      crash()
    },
    beginAgain () {
      token = null
      generation++
    },
    items: (): Versions => new Map([...items].map(([id, { version }]) => [id, version])),
    /** How often an item arrived in an older state than before. */
    olderStates: () => olderStates,
    crashes: () => crashes,
    /** Stops the crashes. */
    calmDown () { crashShare = 0 }
  }
}
