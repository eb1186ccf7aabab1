import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, postgresKeyLookup } from '../../src/postgres/index.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('keys go with their tenant', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const lookUp = postgresKeyLookup(pool)
  const { id, key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['jobs:read'] })

  await recruiting.renameTenant('acme', 'initech')
  t.strictSame([await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key }), await lookUp({ tenantSlug: 'initech', tenantId: 'initech', key })], [null, { id, scopes: ['jobs:read'] }])
  await t.rejects(recruiting.renameTenant('globex', 'initech'), { code: 'invalid_input', field: 'to' }, 'a key is enough for a tenant to exist')

  await recruiting.removeTenant('initech')
  t.equal(await lookUp({ tenantSlug: 'initech', tenantId: 'initech', key }), null)
})

t.test('events of a removed tenant are deleted, also one that was recorded by a transaction open meanwhile', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const emit = (id: number, transaction?: unknown) => recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id } }, { transaction })
  await emit(1)
  const late = await pool.connect()
  await late.query('begin')
  await emit(2, late)

  t.strictSame(await recruiting.removeTenant('acme'), { left: 0 })
  await late.query('commit')
  late.release()
  t.equal((await pool.query('select from recruiting.events')).rows.length, 1)
  await recruiting.prune()
  t.equal((await pool.query('select from recruiting.events')).rows.length, 0)
})

t.test('a transaction that is rolled back renames nothing', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const client = await pool.connect()
  await client.query('begin')
  t.strictSame(await recruiting.renameTenant('acme', 'initech', { transaction: client }), { webhooks: 0 })
  await client.query('rollback')
  t.strictSame((await pool.query('select tenant_key from recruiting.events')).rows, [{ tenant_key: 'acme' }])
  t.strictSame((await pool.query('select from recruiting.tenants')).rows, [])
  await t.rejects(recruiting.renameTenant('acme', 'initech', { transaction: client }), { code: 'invalid_event', field: 'transaction' }, 'nor one that has ended')
  client.release()
})
