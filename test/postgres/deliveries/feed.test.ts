import fc from 'fast-check'
import t from 'tap'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import type { DeliveryStore, EventFilters, RecruitingStorage } from '../../../src/core/ports/index.js'
import { createEvent, createWebhook, failed, lenient } from '../../../src/tools/testing/support/samples.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { measurePool, type Reading } from '../../fixtures/postgres/measured-pool.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { followFeed, newEvent } from '../../fixtures/postgres/changes.js'

const unfiltered = { limit: 100, eventTypes: null }

t.test('a rare type is found in pages, some of which are empty', async (t) => {
  const { pool, storage: { feed, deliveries } } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, 'acme', 'job.created', '{}', '', now() from generate_series(1, 2500) as n`)
  await deliveries.record('acme', newEvent('rare', 'job.closed'))
  const pages: number[] = []
  let position: string | null = null
  for (let hasMore = true; hasMore;) {
    const page = await feed.list('acme', { after: position, limit: 10, eventTypes: ['job.closed'] })
    if (page === null) throw new Error('the position is not known')
    pages.push(page.bodies.length)
    ;({ position, hasMore } = page)
  }
  t.strictSame(pages, [0, 0, 1])
})

t.test('an index finds an event by its id, and the first event since a time', async (t) => {
  const readings: Reading[] = []
  const { pool } = await startPostgresHost(t)
  const { feed } = postgresStorage(measurePool(pool, '.events e', readings))
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, case n % 2 when 0 then 'acme' else 'globex' end, 'job.created', '{}', '', 
      '2030-01-01Z'::timestamptz + n * interval '1 s'
    from generate_series(1, 20000) as n`)
  await pool.query('analyze recruiting.events')
  // The first calls also read the catalogue.
  await followFeed(feed, await feed.endBefore('acme', '2040-01-01T00:00:00.000Z'))
  t.equal((await followFeed(feed, await feed.endBefore('acme', '2030-01-01T05:33:00.000Z'))).ids.length, 11)
  t.equal(await feed.find('acme', 'evt_20000'), '{}')
  for (const { buffers } of readings.slice(-3)) t.ok(buffers < 100, `${buffers} buffers`)
  t.equal(readings.length, 5)
})

t.test('a page contains fewer large events, each once, in PostgreSQL and in memory', async (t) => {
  const ids = Array.from({ length: 12 }, (_, index) => `evt_${index}`)
  for (const { feed, deliveries } of [(await startPostgresHost(t)).storage, memoryStorage()]) {
    for (const id of ids) await deliveries.record('acme', { ...newEvent(id), body: JSON.stringify({ id, text: 'x'.repeat(1_000_000) }) })
    const sizes: number[] = []
    const seen: string[] = []
    let position: string | null = null
    for (let hasMore = true; hasMore;) {
      const page = await feed.list('acme', { after: position, limit: 200, eventTypes: null })
      if (page === null) throw new Error('the position is not known')
      sizes.push(page.bodies.length)
      seen.push(...page.bodies.map((body) => JSON.parse(body).id))
      ;({ position, hasMore } = page)
    }
    t.strictSame([sizes, seen], [[4, 4, 4], ids])
  }
})

t.test('a quiet tenant\'s position follows the pruning of others', async (t) => {
  const { storage: { feed, deliveries } } = await startPostgresHost(t)
  const start = await feed.end('quiet')
  await deliveries.record('acme', newEvent('1'))
  await new Promise((resolve) => setTimeout(resolve, 5))
  await deliveries.prune({ retentionDays: 1, limit: 1 })
  const { position } = await followFeed(feed, start, { tenant: 'quiet' })
  t.not(position, start)
  t.equal(await deliveries.prune({ retentionDays: 0, limit: 10 }), 1)
  t.equal(await feed.list('quiet', { after: start, ...unfiltered }), null)
  t.strictSame((await followFeed(feed, position, { tenant: 'quiet' })).ids, [])
})

t.test("adopting a copy invalidates the feed's positions and keeps its order", async (t) => {
  const { pool, storage: { feed, deliveries, holds } } = await startPostgresHost(t)
  for (const id of ['1', '2']) await deliveries.record('acme', newEvent(id))
  const { position } = await followFeed(feed, null)
  // The state after a dump is restored on another server.
  await pool.query('update recruiting.home set database_oid = 1')
  t.equal(await feed.list('acme', { after: position, ...unfiltered }), null)
  const during = await followFeed(feed, null)
  t.match(await holds.adopt({ environment: null, pending: 'deliver' }), { reason: 'copy' })
  t.equal(await feed.list('acme', { after: during.position, ...unfiltered }), null)
  await deliveries.record('acme', newEvent('3'))
  t.strictSame((await followFeed(feed, null, { limit: 1 })).ids, ['1', '2', '3'])
})

t.test('the newest events are at most 4 MiB', async (t) => {
  const { storage: { feed, deliveries } } = await startPostgresHost(t)
  for (let id = 1; id <= 6; id++) await deliveries.record('acme', { ...newEvent(String(id)), body: JSON.stringify({ id, text: 'x'.repeat(1_000_000) }) })
  t.strictSame((await feed.latest('acme', { limit: 100, eventTypes: null })).map((body) => JSON.parse(body).id), [6, 5, 4, 3])
})

const names = ['a', 'b', '0', '1', '-1', '__proto__', 'length', 'é', '%_', 'a b', '"', '\\', '\\u0000', '?']
const texts = ['', 'a', '1', 'true', 'null', '\\', '\\u0000', '\\\\', '"', '\n', '\u{1f600}', 'é', 'e\u0301', '\ufffd', '\uffff', '?', '?'.repeat(255)]
const hostile = ['\0', 'a\0', '\ud83d', '\ude00', '\ud83d\ud83d\ude00', '\ude00\ud83d', '\\\ud83d', '\\\\\0', '\ud83d\\ude00', '\0'.repeat(5)]
const numbers = [
  0, -0, 1, -1, 1.5, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, 2 ** 53 + 2, 123456789012345680000
]

// What the API accepts.
const storable = fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.toWellFormed().replaceAll('\0', ''))
const anyName = storable.map((text) => text.replace(/[.\p{Cc}]/gu, '')).filter((text) => text !== '')

const filterValue = fc.oneof(
  fc.constantFrom(...texts, ...numbers, true, false, null), storable,
  fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })
)
const leaf = fc.oneof(filterValue, fc.constantFrom(...hostile), fc.string({ unit: 'binary' }))
const { object, value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, leaf, tie('object'), fc.array(tie('value'), { maxLength: 2 })),
  object: fc.dictionary(fc.constantFrom(...names, ...hostile), fc.oneof({ maxDepth: 5 }, leaf, tie('value')), { minKeys: 1, maxKeys: 4 })
}))
const data = fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: value })
const path = fc.array(fc.oneof(fc.constantFrom(...names), anyName), { minLength: 1, maxLength: 4 }).map((steps) => ['data', ...steps].join('.'))

/** Paths of the data with their values, so that filters often match, and other paths. */
function filtersFor (value: unknown): fc.Arbitrary<EventFilters> {
  const found = [...listLeaves(value, 'data')].filter(([path]) => path.split('.').length > 1)
  const one = fc.tuple(path, fc.array(filterValue, { minLength: 1, maxLength: 3 }))
  if (found.length === 0) return one.map(([path, values]) => ({ [path]: values }))
  const near = fc.tuple(fc.constantFrom(...found), fc.array(filterValue, { maxLength: 2 }), fc.boolean())
    .map(([[path, value], others, isFirst]): [string, EventFilters[string]] =>
      [path, isFirst ? [value, ...others] : [...others, value]])
  const pair = fc.oneof({ weight: 9, arbitrary: near }, { weight: 1, arbitrary: one })
  return fc.array(pair, { minLength: 1, maxLength: 2 }).map((pairs) => Object.fromEntries(pairs))
}

type Leaf = [path: string, value: EventFilters[string][number]]

function * listLeaves (value: unknown, path: string, depth = 1): Generator<Leaf> {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) yield [path, value]
  else if (typeof value === 'string') yield [path, value.toWellFormed().replaceAll('\0', '').slice(0, 255)]
  else if (depth < 5) {
    for (const [name, member] of Object.entries(Object(value))) {
      if (names.includes(name)) yield * listLeaves(member, `${path}.${name}`, depth + 1)
    }
  }
}

async function createFiltered ({ webhooks }: RecruitingStorage, filters: EventFilters): Promise<number> {
  const id = await webhooks.nextId('acme')
  await webhooks.create('acme', { ...createWebhook(id), filters }, { maxPerTenant: 1000 })
  return id
}

t.test('memory and PostgreSQL match the same events for any data and filters', async (t) => {
  const { storage } = await startPostgresHost(t)
  const memory = memoryStorage()
  const stores = [memory, storage] as const
  const [first, second] = [await createFiltered(memory, { 'data.a': [1] }), await createFiltered(storage, { 'data.a': [1] })]
  const counts = { matching: 0, all: 0 }
  let events = 0
  const filtered = data.chain((value) => fc.tuple(fc.constant(value), filtersFor(value)))
  await fc.assert(fc.asyncProperty(filtered, async ([value, filters]) => {
    const body = JSON.stringify({ id: 'evt', data: value })
    const event = { ...createEvent(`evt_${++events}`), body }
    const kept = [await memory.webhooks.update('acme', first, { filters }), await storage.webhooks.update('acme', second, { filters })]
    const texts = kept.map((webhook) => JSON.stringify(webhook?.filters))
    const [expected, got] = await Promise.all(stores.map(async ({ deliveries }) => (await deliveries.record('acme', event)).deliveries))
    counts.all++
    counts.matching += expected ?? 0
    return expected === got && texts[0] === texts[1]
  }), { numRuns: 200, seed: 1 })
  t.ok(counts.matching > 20 && counts.all - counts.matching > 20, 'many match and many do not', counts)

  const selection = { include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 2000 } as const
  for (const filters of [{ 'data.a': [null] }, { 'data.a': [1, 0, '', 'a', true], 'data.b': [null] }, { 'data.0': ['1', 1, null, '?'] }] satisfies EventFilters[]) {
    await memory.webhooks.update('acme', first, { filters })
    await storage.webhooks.update('acme', second, { filters })
    for (const { deliveries } of stores) {
      const claimed = await deliveries.claimDue({ limit: 2000, perEndpoint: 2000, leaseMs: 60_000 })
      await deliveries.recordAttempts(claimed.map((lease) => failed(lease)), lenient)
    }
    const [expected, got] = await Promise.all([memory.deliveries.countReplay('acme', first, selection), storage.deliveries.countReplay('acme', second, selection)])
    t.strictSame(got, expected, `a replay with ${JSON.stringify(filters)}`)
  }
})

t.test('an event that PostgreSQL cannot read as jsonb is recorded and matches like one without data', async (t) => {
  const { storage, pool } = await startPostgresHost(t)
  await createFiltered(storage, { 'data.job_id': [7] })
  await createFiltered(storage, { 'data.other': [null] })
  const bodies = [`{"data":{"job_id":7,"deep":${'['.repeat(60_000)}${']'.repeat(60_000)}}}`, '{"data":{"job_id":7,"big":1e400000}}', '{"data":{"job_id":7}', '{"data":{"job_id":7,"x":"\\uzzzz"}}', '']
  const client = await begin(pool)
  for (const [index, body] of bodies.entries()) {
    const { deliveries } = await record(storage.deliveries, index, body, client)
    t.equal(deliveries, 1, body.slice(0, 40))
  }
  await client.finish()
  t.equal((await pool.query('select count(*)::int as count from recruiting.events')).rows[0].count, bodies.length)
})

function record (deliveries: DeliveryStore, index: number, body: string, transaction: unknown) {
  return deliveries.record('acme', { ...createEvent(`evt_${index}`), body }, transaction)
}
