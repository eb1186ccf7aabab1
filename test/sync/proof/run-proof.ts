import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, createRandom } from '../../../examples/demo/data/random.js'
import { sync } from '../../../examples/mirror/sync.js'
import { Crash, type ProofCopy, createProofCopy } from './proof-copy.js'
import { type Differences, type Report, addDifferences, compare, noDifferences } from './report.js'
import { createUpdatedAfter } from './rivals.js'
import { type ProofTenant, type World, keyOf, kinds, proofTenants } from './world.js'

export interface ProofOptions {
  seed: number
  /** The minimum number of writes. */
  operations: number
  /** The number of times the server is killed. @default 5 */
  kills?: number
  /** @default 12 */
  writers?: number
  /** How long a reader waits between two turns, in milliseconds. @default 50 */
  restMs?: number
  /** Request errors that a reader tolerates, because something is killed. @default those of a killed server */
  outlives?: RegExp
  /** The number of times rows change without being recorded, while readers read. @default 0 */
  damages?: number
  /** Kills something else each time the server is killed. */
  disturb?: () => Promise<void>
}

/** One customer's copy of one resource. */
interface Reader {
  tenantSlug: ProofTenant
  kind: typeof kinds[number]
  copy: ProofCopy
  random: Random
}

const pageSizes = [1, 2, 5, 20, 50, 100, 200]

/** Lets writers write and readers copy, with sync and with its rival. Compares the copies with the table. */
export async function runProof (world: World, options: ProofOptions): Promise<Report> {
  const { seed, operations, kills = 5, damages = 0, writers = 12, restMs = 50, outlives = /fetch failed|terminated|other side closed|got 404/, disturb } = options
  let server = await world.serve(0)
  const { port } = server
  const readers = createReaders(seed)
  const updatedAfter = createUpdatedAfter()
  let made = 0
  let killed = 0
  let isOver = false
  let damaged = 0
  let differences = noDifferences
  let isBusy = false

  async function write (random: Random): Promise<void> {
    while (made < operations || damaged < damages || killed < kills) {
      const count = await world.write(random)
      made += count
      if (!isBusy && damaged < damages && made > (damaged + 0.5) * operations / damages) await aside(damage)
      if (!isBusy && killed < kills && made > (killed + 0.5) * operations / kills) await aside(restart)
    }
  }

  async function count ({ copy, tenantSlug, kind }: Reader): Promise<void> {
    differences = addDifferences(differences, compare(copy.items(), await world.read(tenantSlug, kind)))
  }

  /** Runs one task at a time. */
  async function aside (task: () => Promise<void>): Promise<void> {
    isBusy = true
    await task()
    isBusy = false
  }

  async function damage (): Promise<void> {
    damaged++
    const copies = createReaders(seed + damaged).slice(0, proofTenants.length * kinds.length)
    const followAll = () => Promise.all(copies.map((reader) => {
      reader.copy.calmDown()
      return follow(reader, 200)
    }))
    await followAll()
    await world.damage?.(async () => {
      await world.settle()
      await followAll()
      for (const reader of copies) await count(reader)
    })
  }

  async function restart (): Promise<void> {
    killed++
    await server.kill()
    await disturb?.()
    server = await world.serve(port)
  }

  /** Repeats a reader's turn until the writers have finished, even after a crash. */
  async function repeat (turn: () => Promise<void>): Promise<void> {
    while (!isOver) {
      await survive(turn, outlives)
      await sleep(restMs)
    }
  }

  const url = (tenantSlug: string, path: string) => `http://127.0.0.1:${port}/api/v1/public/${tenantSlug}/${path}`
  function follow ({ tenantSlug, kind, copy }: Reader, perPage: number): Promise<void> {
    return sync({ url: url(tenantSlug, `${kind}s/sync`), key: keyOf(tenantSlug), perPage }, copy)
  }

  async function takeTurn (reader: Reader): Promise<void> {
    if (reader.random.chance(0.02)) await reader.copy.beginAgain()
    await follow(reader, reader.random.pick(pageSizes))
  }
  const pollRival = () => updatedAfter.poll(url('acme', 'candidates'), keyOf('acme'))

  const reading = [...readers.map((reader) => () => takeTurn(reader)), pollRival].map(repeat)
  const writing = Array.from({ length: writers }, (_, index) => write(createRandom(seed + 100 + index)))
  await Promise.all([Promise.all(writing).finally(() => { isOver = true }), ...reading])

  await world.settle()
  for (const reader of readers) {
    reader.copy.calmDown()
    await follow(reader, 200)
    await count(reader)
  }
  await pollRival()
  const late: Differences = compare(updatedAfter.items, await world.read('acme', 'candidate'))
  await server.kill()
  return {
    operations: made,
    kills: killed,
    damages: damaged,
    crashes: sum(readers, ({ copy }) => copy.crashes()),
    copies: readers.length,
    sync: { ...differences, olderStates: sum(readers, ({ copy }) => copy.olderStates()) },
    updatedAfter: late
  }
}

/** Two readers of each resource of each tenant. */
function createReaders (seed: number): Reader[] {
  const lanes = [0, 1].flatMap(() => proofTenants.flatMap((tenantSlug) => kinds.map((kind) => ({ tenantSlug, kind }))))
  return lanes.map(({ tenantSlug, kind }, index) => {
    const random = createRandom(seed + index)
    return { tenantSlug, kind, random, copy: createProofCopy(kind, random) }
  })
}

async function survive (turn: () => Promise<void>, outlives: RegExp): Promise<void> {
  try {
    await turn()
  } catch (error) {
    if (!(error instanceof Crash) && !outlives.test(String(error))) throw error
  }
}

function sum<Item> (items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}
