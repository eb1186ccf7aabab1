import type pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { systemClock } from '../../../src/core/shared/clock.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'

interface Body { timestamp: string, sequence: string, data: { id: number, state: number } }

async function start (t: Test) {
  const { pool, storage } = await startPostgresHost(t)
  /** A server whose clock is ahead by so many milliseconds. */
  const serve = (aheadMs: number) => {
    const clock = { ...systemClock, now: () => Date.now() + aheadMs }
    const recruiting = createRecruiting({ storage, delivery: { worker: false, clock } })
    t.teardown(() => recruiting.close())
    return recruiting
  }
  const emit = (recruiting: ReturnType<typeof serve>, data: Body['data'], transaction: pg.PoolClient, tenantSlug = 'acme') =>
    recruiting.emit({ tenantSlug, type: 'candidate.updated', data }, { transaction })
  const read = async (): Promise<Body[]> => {
    const page = await storage.feed.list('acme', { after: null, limit: 200, eventTypes: null })
    return (page?.bodies ?? []).map((body) => JSON.parse(body))
  }
  return { pool, serve, emit, read }
}

const sortBy = (bodies: Body[], field: 'timestamp' | 'sequence') =>
  [...bodies].sort((one, other) => one[field] < other[field] ? -1 : 1)
const statesOf = (bodies: Body[]) => bodies.map(({ data: { state } }) => state)

t.test('of concurrent updates by servers whose clocks differ, the newest has the greatest sequence', async (t) => {
  const { pool, serve, emit, read } = await start(t)
  const servers = [serve(0), serve(3_600_000)]
  await pool.query('create table public.people (id int primary key, state int not null); insert into public.people values (1, 0)')
  // Each connection reports the states in the order in which it wrote them, on both clocks by turns.
  await Promise.all([0, 1, 2, 3].map(async (first) => {
    for (let turn = 0; turn < 10; turn++) {
      const client = await begin(pool)
      const { rows: [row] } = await client.query('update public.people set state = state + 1 returning state')
      await emit(servers[(first + turn) % 2] ?? serve(0), { id: 1, state: row.state }, client)
      await client.finish()
    }
  }))
  const bodies = await read()
  const states = Array.from({ length: 40 }, (_, index) => index + 1)
  t.strictSame(statesOf(bodies), states, 'the feed')
  t.strictSame(statesOf(sortBy(bodies, 'sequence')), states)
  t.notSame(statesOf(sortBy(bodies, 'timestamp')), states)
})

t.test('concurrent transactions get sequences in the order of the feed, however late they commit', async (t) => {
  const { pool, serve, emit, read } = await start(t)
  const server = serve(0)
  await Promise.all(Array.from({ length: 5 }, async (_, id) => {
    for (let turn = 0; turn < 8; turn++) {
      const client = await begin(pool)
      for (let state = 0; state <= turn % 3; state++) await emit(server, { id, state }, client)
      await client.finish()
    }
  }))
  const bodies = await read()
  t.ok(bodies.length > 60)
  t.strictSame(bodies.map(({ sequence }) => sequence), [...new Set(bodies.map(({ sequence }) => sequence))].sort())
})

t.test("a sequence follows the tenant's last one after the server's clock was set back, and does not count others' events", async (t) => {
  const { pool, serve, emit, read } = await start(t)
  const server = serve(0)
  const client = await begin(pool)
  await emit(server, { id: 1, state: 1 }, client)
  const later = '5000000000000000'
  await client.query(`update recruiting.events set sequence = ${later}; select setval('recruiting.event_clock', ${later})`)
  for (let state = 0; state < 5; state++) await emit(server, { id: 2, state }, client, 'globex')
  await emit(server, { id: 1, state: 2 }, client)
  await client.finish()
  t.equal((await read()).at(-1)?.sequence, '5000000000000001')
})
