import { readFile, readdir } from 'node:fs/promises'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, migrate, postgresStorage } from '../../src/postgres/index.js'
import { upgrade } from '../../src/postgres/upgrade/upgrade.js'
import { firstRows } from '../../src/testing/support/samples.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { createNextPool, readNextVersion } from '../fixtures/postgres/next-version/next-version.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const folder = new URL('../fixtures/postgres/dumps/', import.meta.url)

for (const name of await readdir(folder)) {
  for (const to of ['this version', 'the next version']) {
    t.test(`a database of ${name} is upgraded to ${to} by migrate alone, and works`, async (t) => {
      const pool = (await startPostgres(t)).createPool()
      const client = await pool.connect()
      await client.query(await readFile(new URL(name, folder), 'utf8'))
      client.release(true)
      if (to === 'this version') await migrate(pool)
      else await upgrade(pool, 'recruiting', await readNextVersion())
      const storage = postgresStorage(to === 'this version' ? pool : createNextPool(pool))
      const { webhooks, deliveries, changes } = storage

      t.match(await apiKeys(pool).list({ tenantSlug: 'acme' }), [{ name: 'CRM', scopes: ['webhooks:read'], revokedAt: null }])
      t.match(await webhooks.list('acme', firstRows), [{ id: 1, status: 'active', filters: null }, { id: 2, status: 'inactive', filters: { 'data.job_id': [7, null] } }])
      t.match(await webhooks.list('initech', firstRows), [{ id: 3, status: 'disabled' }])
      t.equal(await webhooks.count('umbrella', {}), 0)
      t.strictSame(await webhooks.findSecrets('acme', 1), ['secret-new', 'secret-1'])
      t.match(await deliveries.list('acme', 1, firstRows), [
        { status: 'delivered', attempt_count: 1 }, { status: 'cancelled', attempt_count: 1 }, { status: 'pending', attempt_count: 1 }, { status: 'pending' }
      ])
      t.match(await deliveries.record('acme', {
        id: 'evt_7', type: 'candidate.created', body: '{}', tombstone: null, subject: null, idempotencyKey: 'once', fingerprint: 'print'
      }), { id: 'evt_1', deliveries: 1 })
      const position = await changes.begin('acme', 'candidate')
      await changes.record('acme', { kind: 'candidate', id: '3', deleted: false })
      t.match(await changes.list('acme', 'candidate', { after: position, limit: 10 }), { ids: ['3'] })

      t.strictSame(await storage.holds.adopt({ environment: null, pending: 'deliver' }), { reason: 'copy', pending: 2 }, 'a restored dump sends nothing at first')
      const receiver = await startReceiver(t)
      await webhooks.update('acme', 1, { target_url: receiver.url })
      const engine = createRecruiting({ storage, logger: silentLogger, delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'] } })
      t.teardown(() => engine.close())
      const gone = new Promise((resolve) => engine.on('webhookDisabled', resolve))
      t.match(await gone, { tenantSlug: 'initech', webhookId: 3, kind: 'gone' })
      await pool.query('update recruiting.queue set due_at = now() where lane is null')
      await engine.drain()
      t.strictSame(receiver.requests.map(({ headers }) => headers['webhook-id']).toSorted(), ['evt_3', 'evt_6'])
      t.strictSame(await deliveries.erase('initech', 'candidate:1'), 0)
    })
  }
}
