import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('calls in a transaction that holds the last connection wait for no other', async (t) => {
  const { server } = await startPostgresHost(t)
  const pool = server.createPool({ max: 1 })
  const recruiting = createRecruiting({ storage: postgresStorage(pool, { queryTimeoutMs: 30_000 }), delivery: false })
  t.teardown(() => recruiting.close())
  const client = await pool.connect()
  await client.query('begin')
  const options = { transaction: client }

  t.match(await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {}, subject: 'candidate:1' }, options), { deliveries: 0 })
  t.equal(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }, options), 1)
  await recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 1 }, options)
  t.strictSame(await recruiting.renameTenant('acme', 'globex', options), { webhooks: 0 })
  t.strictSame(await recruiting.removeTenant('globex', options), { left: 0 })
  await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} }, options), { code: 'tenant_resting' })
  await client.query('commit')
  client.release()
})
