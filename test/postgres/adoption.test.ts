import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, postgresKeyLookup } from '../../src/storages/postgres/index.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

t.test('after adopt with discard, a copy reaches no receiver and accepts no key', async (t) => {
  for (const [keepWebhooks, keepKeys] of [[false, false], [true, false], [false, true]] as const) {
    const { pool, storage } = await startPostgresHost(t)
    const receiver = await startReceiver(t)
    const webhook = await storeWebhook(storage, 'acme', { targetUrl: receiver.url })
    const { key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: [] })
    // Another cluster: the database is a copy.
    await pool.query('update recruiting.home set system = 1')
    const worker = createRecruiting({ storage, delivery: { ...toLoopback, pollMs: 20 }, logger: silentLogger })
    t.teardown(() => worker.close())
    t.match(await worker.adopt({ pending: 'discard', keepWebhooks, keepKeys }), { reason: 'copy' })
    await worker.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
    await worker.drain()
    t.equal(receiver.requests.length, keepWebhooks ? 1 : 0)
    t.match(await worker.webhooks.find('acme', webhook.id), { status: keepWebhooks ? 'active' : 'inactive' })
    t.equal(await postgresKeyLookup(pool)({ tenantSlug: 'acme', tenantId: 'acme', key }) !== null, keepKeys)
    await worker.close()
  }
})

t.test('adopt rejects unknown options, and options that keep webhooks or keys without discard', async (t) => {
  const { storage } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())
  for (const [field, value] of [['keepWebhooks', true], ['keepKeys', true], ['keepWebhooks', 'yes'], ['keepAll', true]] as const) {
    await t.rejects(recruiting.adopt({ pending: 'deliver', [field]: value } as never), { code: 'invalid_option', field })
  }
})
