import t from 'tap'
import { postgresStorage } from '../../../../src/storages/postgres/index.js'
import { withClient } from '../../../fixtures/postgres/changes.js'
import { measurePool, type Reading } from '../../../fixtures/postgres/measured-pool.js'
import { startPostgresHost, startPostgresServerHost } from '../../../fixtures/postgres/postgres.js'
import { followFeed, newEvent } from '../../../fixtures/postgres/changes.js'

t.test('a page reads only its events, at the beginning, middle and end of 30,000, next to 100,000 of others', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, case when n % 13 < 3 then 'acme' else 'other_' || n % 50 end, case when n % 5000 = 0 then 'rare' else 'job.created' end,
      '{"id":"evt_' || n || '"}', '', now()
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
  for (const [where, after] of [['the first', null], ['a middle', `65000.${epoch}`], ['the last', `129500.${epoch}`], ['an empty', at]] as const) {
    const { size, buffers } = await read(after)
    t.ok(buffers <= 3 * 101 + 60, `${where} page of ${size} events reads ${buffers} buffers`)
  }
  const { size, buffers: rare } = await read(null, ['rare'])
  t.ok(size === 0 && rare <= 3 * 1000 + 60, `a page of a rare type reads ${rare} buffers`)
})

t.test('after a server crash, no event is missed, even though numbers are reused', async (t) => {
  const settings = ['fsync=off', 'autovacuum=off', 'wal_writer_delay=10s']
  const { server, pool, storage: { feed, deliveries } } = await startPostgresServerHost(t, { settings })
  await deliveries.record('acme', newEvent('1'))
  await withClient(pool, async (client) => {
    await client.query('begin')
    for (let n = 0; n < 50; n++) await deliveries.record('acme', newEvent(`lost ${n}`), client)
    await client.query('rollback')
  })
  const positions = [(await followFeed(feed, null)).position, await feed.end('acme')]
  await server.stop('immediate')
  await server.start()
  await deliveries.record('acme', newEvent('2'))
  const { rows: [{ seq }] } = await pool.query("select seq::int from recruiting.events where id = '2'")
  t.ok(seq <= 50, `the number ${seq} is used again`)
  for (const position of positions) t.strictSame((await followFeed(feed, position)).ids, ['2'])
})
