import { cacheKeyLookup, generateApiKey } from 'fastify-recruiting-api'
import { apiKeys, migrate, postgresKeyLookup } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'

/*
 * The cost of recording when a key was last used, and of refusing a key with a wrong checksum. The lookups take turns in
 * each round, so that a disturbance affects both.
 */
const rounds = 41
const perRound = 400
const atOnce = 8

const database = await startDatabase()
await migrate(database.pool)
const keys = apiKeys(database.pool)
const issued = await Promise.all(Array.from({ length: 100 }, () => keys.issue({ tenantSlug: 'acme', scopes: ['candidates:read'] })))
const recording = postgresKeyLookup(database.pool)
const plain = postgresKeyLookup(database.pool, { recordUses: false })

console.log('\nkeys')
await compare('a lookup that records uses, against one that does not', recording, plain, perRound)
await compare('the same from a cache', cacheKeyLookup(recording, { ttlMs: 3_600_000 }), cacheKeyLookup(plain, { ttlMs: 3_600_000 }), 20_000)
await measureRefusals()
await database.close()

async function compare (name: string, one: typeof plain, other: typeof plain, lookups: number): Promise<void> {
  await measure(one, lookups)
  await measure(other, lookups)
  const ratios: number[] = []
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const isFirst = round % 2 === 0
    const first = await measure(isFirst ? one : other, lookups)
    const second = await measure(isFirst ? other : one, lookups)
    const [oneUs, otherUs] = isFirst ? [first, second] : [second, first]
    ratios.push(oneUs / otherUs)
    times.push(otherUs)
  }
  console.log(`  ${name}: ${median(ratios).toFixed(3)} times its ${median(times).toFixed(1)} µs, target 1.02 at most`)
}

/** Microseconds of a lookup, with some at once. */
async function measure (lookup: typeof plain, lookups: number): Promise<number> {
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: atOnce }, async (_, worker) => {
    for (let count = worker; count < lookups; count += atOnce) {
      const { key = '' } = issued[count % issued.length] ?? {}
      if (await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }) === null) throw new Error('a valid key was refused')
    }
  }))
  return 1000 * (performance.now() - startedAt) / lookups
}

async function measureRefusals (): Promise<void> {
  const wrong = Array.from({ length: 1000 }, () => generateApiKey().replace(/.$/, (last) => last === 'a' ? 'b' : 'a'))
  const unreachable = async (): Promise<never> => { throw new Error('a query was made') }
  const lookup = postgresKeyLookup({ query: unreachable, connect: unreachable })
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    for (const key of wrong) if (await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }) !== null) throw new Error('a wrong key was found')
    times.push(1000 * (performance.now() - startedAt) / wrong.length)
  }
  console.log(`  a wrong checksum: ${median(times).toFixed(2)} µs and no query, target 5 at most`)
}

function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
