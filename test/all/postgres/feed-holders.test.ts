import t from 'tap'
import { follow } from '../../fixtures/postgres/changes.js'
import { begin, startPostgresServerHost } from '../../fixtures/postgres/postgres.js'
import { newEvent } from '../../fixtures/postgres/changes.js'

t.test('a prepared transaction holds back the feed and sync, even after a server crash', async (t) => {
  const settings = ['fsync=off', 'autovacuum=off', 'max_prepared_transactions=1']
  const { pool, server, storage: { changes, feed, deliveries } } = await startPostgresServerHost(t, { settings })
  const list = async () => (await feed.list('acme', { after: null, limit: 10, eventTypes: null }))?.bodies.map((body) => JSON.parse(body).id)
  const client = await begin(pool)
  await deliveries.record('acme', newEvent('1'), client)
  const start = await changes.begin('acme', 'candidate')
  const change = { kind: 'candidate', id: '1', deleted: false } as const
  await changes.record('acme', change, client)
  await client.query("prepare transaction 'two phases'")
  client.release()
  await changes.record('acme', { ...change, id: '2' })
  await deliveries.record('acme', newEvent('2'))
  const held = { heldBackMs: Number, heldBackBy: 'prepared transaction two phases, user postgres' }
  t.match([await list(), await feed.stats(), await changes.stats()], [[], held, held])
  await server.stop('immediate')
  await server.start()
  t.match([await list(), await feed.stats(), await changes.stats()], [[], held, held])
  t.strictSame((await follow(changes, start)).ids, [])
  await pool.query("commit prepared 'two phases'")
  t.strictSame((await follow(changes, start)).ids, ['1', '2'])
  t.strictSame([await list(), await feed.stats()], [['1', '2'], { heldBackMs: 0, heldBackBy: null }])
})
