import t from 'tap'
import { startPostgresServerHost } from '../../fixtures/postgres/postgres.js'

function newEvent (id: string) {
  return { id, type: 'job.created', body: JSON.stringify({ id }), subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' }
}

t.test('a prepared transaction holds back the feed, also after a crash of the server', async (t) => {
  const settings = ['fsync=off', 'autovacuum=off', 'max_prepared_transactions=1']
  const { pool, server, storage: { feed, deliveries } } = await startPostgresServerHost(t, { settings })
  const list = async () => (await feed.list('acme', { after: null, limit: 10, eventTypes: null }))?.bodies.map((body) => JSON.parse(body).id)
  const client = await pool.connect()
  await client.query('begin')
  await deliveries.record('acme', newEvent('1'), client)
  await client.query("prepare transaction 'two phases'")
  client.release()
  await deliveries.record('acme', newEvent('2'))
  const held = { heldBackMs: Number, heldBackBy: 'prepared transaction two phases, user postgres' }
  t.match([await list(), await feed.stats()], [[], held])
  await server.stop('immediate')
  await server.start()
  t.match([await list(), await feed.stats()], [[], held])
  await pool.query("commit prepared 'two phases'")
  t.strictSame([await list(), await feed.stats()], [['1', '2'], { heldBackMs: 0, heldBackBy: null }])
})
