import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { named } from '../../../src/testing/support/samples.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('transactions that record the first events of two tenants in opposite order do not wait for each other', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())

  for (const round of ['no event', 'a renamed tenant', 'a removed tenant']) {
    const clients = await Promise.all([pool.connect(), pool.connect()])
    for (const client of clients) await client.query("begin; set local lock_timeout to '500ms'")
    const emit = (client: unknown, tenantSlug: string) => recruiting.emit({ tenantSlug, type: 'application.created', data: {} }, { transaction: client })
    await emit(clients[0], 'acme')
    await emit(clients[1], 'globex')
    await t.resolves(emit(clients[0], 'globex'), `after ${round}`)
    await t.resolves(emit(clients[1], 'acme'), `after ${round}`)
    for (const client of clients) {
      await client.query('commit')
      client.release()
    }
    // Without a rest, as for tenants with ids of their own.
    if (round === 'no event') await storage.webhooks.renameTenant(named('acme'), named('initech'), { reseal: (secret) => secret })
    else await storage.webhooks.removeTenant('globex', { limit: 100 })
  }
})

t.test('emits do not wait for a rename or a removal that is not committed, and go with their tenant', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const event = (tenantSlug: string) => ({ tenantSlug, type: 'application.created', data: {}, subject: 'candidate:1' }) as const

  const client = await pool.connect()
  await client.query('begin')
  await recruiting.renameTenant('acme', 'initech', { transaction: client })
  await recruiting.removeTenant('globex', { transaction: client })
  await recruiting.emit(event('acme'))
  await recruiting.emit(event('globex'))
  await client.query('commit')
  client.release()

  t.strictSame(await recruiting.erase({ tenantSlug: 'initech', subject: 'candidate:1' }), 1)
  t.strictSame(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }), 0)
  t.strictSame(await recruiting.erase({ tenantSlug: 'globex', subject: 'candidate:1' }), 0)
  await recruiting.prune()
  t.strictSame((await pool.query('select tenant_key from recruiting.events')).rows, [{ tenant_key: 'acme' }])
})
