import t from 'tap'
import { type EventFeed } from '../../../../src/index.js'
import { postgresStorage } from '../../../../src/postgres/index.js'
import { measurePool, type Reading } from '../../../fixtures/postgres/measured-pool.js'
import { startPostgresHost, startPostgresServerHost } from '../../../fixtures/postgres/postgres.js'

const unfiltered = { limit: 100, eventTypes: null }

function newEvent (id: string, type = 'job.created') {
  return { id, type, body: JSON.stringify({ id }), subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' }
}

/** Follows the feed of a tenant to its end, and returns the ids of the events. */
async function follow (feed: EventFeed, after: string | null, { tenant = 'acme', limit = 100 } = {}): Promise<{ ids: string[], position: string }> {
  const page = await feed.list(tenant, { after, limit, eventTypes: null })
  if (page === null) throw new Error(`the position ${after} is not known`)
  const ids = page.bodies.map((body) => JSON.parse(body).id)
  if (!page.hasMore) return { ids, position: page.position }
  const rest = await follow(feed, page.position, { tenant, limit })
  return { ids: [...ids, ...rest.ids], position: rest.position }
}

t.test('a page reads its own events alone, at the beginning, in the middle and at the end of 30,000, beside 100,000 of others', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at, xid)
    select 'evt_' || n, case when n % 13 < 3 then 'acme' else 'other_' || n % 50 end, case when n % 5000 = 0 then 'rare' else 'job.created' end,
      '{"id":"evt_' || n || '"}', '', now(), '0'
    from generate_series(1, 130000) as n`)
  await pool.query('vacuum analyze recruiting.events')
  const readings: Reading[] = []
  const { feed } = postgresStorage(measurePool(pool, 'feed_bounds_v1', readings))
  const at = await storage.feed.end('acme')
  const epoch = at.split('.').at(-1)
  const read = async (after: string | null, eventTypes: string[] | null = null) => {
    const page = await feed.list('acme', { after, limit: 100, eventTypes })
    return { size: page?.bodies.length, buffers: readings.at(-1)?.buffers ?? Infinity }
  }
  await read(null)
  for (const [where, after] of [['the first', null], ['a middle', `0.65000.${epoch}`], ['the last', `0.129500.${epoch}`], ['an empty', at]] as const) {
    const { size, buffers } = await read(after)
    t.ok(buffers <= 3 * 101 + 60, `${where} page of ${size} events reads ${buffers} buffers`)
  }
  const { size, buffers: rare } = await read(null, ['rare'])
  t.ok(size === 0 && rare <= 3 * 1000 + 60, `a page of a rare type reads ${rare} buffers`)
})

t.test('the feed of a database that was restored on another server', async (t) => {
  const { pool, storage: { feed, deliveries, holds } } = await startPostgresHost(t)
  for (const id of ['1', '2', '3']) await deliveries.record('acme', newEvent(id))
  const { position } = await follow(feed, null)
  // As a dump leaves them there: events and a mark of transactions that the server has not reached, and the other server's name.
  await pool.query("update recruiting.events set xid = '999999999999' where id in ('2', '3')")
  await pool.query("update recruiting.change_state set pruned_event_xid = '999999999998', pruned_event_seq = 7, reached = '999999999999'")
  await pool.query('update recruiting.home set database_oid = 1')
  await deliveries.record('acme', newEvent('4'))

  t.equal(await feed.list('acme', { after: position, ...unfiltered }), null, 'earlier positions end')
  const during = await follow(feed, null)
  t.strictSame(during.ids, ['1', '4'], 'before the adoption, later events of the other server are hidden')
  t.match(await holds.adopt({ environment: null, pending: 'deliver' }), { reason: 'copy' })
  t.equal(await feed.list('acme', { after: during.position, ...unfiltered }), null, 'the adoption ends the positions of the copy')
  t.strictSame((await follow(feed, null, { limit: 1 })).ids, ['1', '2', '3', '4'])
  const { position: after } = await follow(feed, null)
  await deliveries.record('acme', newEvent('5'))
  t.strictSame((await follow(feed, after)).ids, ['5'])

  await new Promise((resolve) => setTimeout(resolve, 5))
  for (const left of [['2', '3', '4', '5'], ['3', '4', '5']]) {
    await deliveries.prune({ retentionDays: 0, limit: 1 })
    t.strictSame((await follow(feed, null, { limit: 1 })).ids, left, 'pruning follows the order')
  }
})

t.test('after a crash of the server, nothing is passed by, although ids of transactions are used again', async (t) => {
  const { server, pool, storage: { feed, deliveries } } = await startPostgresServerHost(t, { settings: ['fsync=off', 'autovacuum=off', 'wal_writer_delay=10s'] })
  await deliveries.record('acme', newEvent('1'))
  for (let n = 0; n < 50; n++) await pool.query('select pg_current_xact_id()')
  const positions = [(await follow(feed, null)).position, await feed.end('acme')]
  await server.stop('immediate')
  await server.start()
  await deliveries.record('acme', newEvent('2'))
  for (const position of positions) t.strictSame((await follow(feed, position)).ids, ['2'])
})
