import t from 'tap'
import { withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { followFeed, newEvent } from '../../fixtures/postgres/changes.js'

t.test('events about one row are in the order of its states, even if their transactions began in another order', async (t) => {
  const { pool, storage: { feed, deliveries } } = await startPostgresHost(t)
  await withClient(pool, async (early) => withClient(pool, async (late) => {
    await early.query('begin')
    await deliveries.record('acme', newEvent('another row'), early)
    await late.query('begin')
    await deliveries.record('acme', newEvent('older state'), late)
    await late.query('commit')
    await deliveries.record('acme', newEvent('newer state'), early)
    const during = await followFeed(feed, null)
    t.strictSame(during.ids, [], 'an open transaction may still commit an earlier event')
    await early.query('commit')
    t.strictSame((await followFeed(feed, during.position)).ids, ['another row', 'older state', 'newer state'])
  }))
})

t.test('events wait only for transactions that recorded an earlier one', async (t) => {
  const { pool, server, storage: { feed, deliveries } } = await startPostgresHost(t)
  const other = server.createPool({ database: 'postgres' })
  await withClient(other, async (elsewhere) => withClient(pool, async (writer) => withClient(pool, async (emitter) => {
    for (const client of [elsewhere, writer]) await client.query('begin; select pg_current_xact_id()')
    await emitter.query('begin')
    await emitter.query('savepoint one')
    await deliveries.record('acme', newEvent('lost'), emitter)
    await deliveries.record('acme', newEvent('1'))
    t.strictSame((await followFeed(feed, null)).ids, [], 'an emitter is in flight')
    await emitter.query('rollback to one')
    const { ids, position } = await followFeed(feed, null)
    t.strictSame(ids, ['1'], 'its savepoint is rolled back')
    await deliveries.record('acme', newEvent('2'), emitter)
    await deliveries.record('acme', newEvent('3'))
    t.strictSame((await followFeed(feed, position)).ids, [], 'it records again')
    await emitter.query('commit')
    t.strictSame((await followFeed(feed, position)).ids, ['2', '3'])
  })))
})

t.test('stats name the transaction that holds back the feed', async (t) => {
  const { pool, storage: { feed, deliveries } } = await startPostgresHost(t)
  await withClient(pool, async (client) => {
    await client.query("set application_name to 'night import'; begin")
    const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid')
    await deliveries.record('acme', newEvent('1'), client)
    t.strictSame(await feed.stats(), { heldBackMs: 0, heldBackBy: null }, 'nothing is hidden yet')
    await deliveries.record('acme', newEvent('2'))
    await pool.query("update recruiting.events set recorded_at = now() - interval '1 hour' where id = '2'")
    const held = `pid ${pid}, user postgres, application night import`
    const stats = await feed.stats()
    t.equal(stats.heldBackBy, held)
    t.ok(stats.heldBackMs >= 3_600_000)
    await client.query('commit; reset application_name')
  })
  t.strictSame(await feed.stats(), { heldBackMs: 0, heldBackBy: null })
})
