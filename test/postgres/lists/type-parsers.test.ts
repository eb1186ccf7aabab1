import pg from 'pg'
import t from 'tap'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../../src/storages/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { createWebhook } from '../../../src/tools/testing/support/samples.js'

t.test('dates, big integers and JSON are read with any type parsers of the host\'s driver', async (t) => {
  const { server, pool, saveCandidates } = await startPostgresHost(t)
  const { INT8, NUMERIC, TIMESTAMPTZ, JSON: JSON_TYPE, JSONB } = pg.types.builtins
  const own = new Set<number>([INT8, NUMERIC, TIMESTAMPTZ, JSON_TYPE, JSONB, 1009])
  const types = { getTypeParser: (oid: number) => own.has(oid) ? () => ({ mine: oid }) : pg.types.getTypeParser(oid) }
  const storage = postgresStorage(server.createPool({ types }))
  const { webhooks, deliveries } = storage

  await saveCandidates('acme', [{ id: Number.MAX_SAFE_INTEGER, full_name: 'Ada', source_id: 7 }])
  t.strictSame(await storage.candidates.list('acme', {
    filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5, fields: ['id', 'source_id', 'headline', 'created_at']
  }), [{ id: Number.MAX_SAFE_INTEGER, source_id: 7, headline: null, created_at: '2026-01-01T00:00:00.000Z' }])
  t.equal(await storage.candidates.count('acme', {}), 1)

  const id = await webhooks.nextId('acme')
  const input = createWebhook(id)
  await webhooks.create('acme', input, { maxPerTenant: 5 })
  const sort = [{ field: 'id', direction: 'asc' }] as const
  t.match(await webhooks.list('acme', { filter: {}, sort, offset: 0, limit: 5 }), [{ id, event_types: input.event_types, created_at: /Z$/ }])
  t.match(await webhooks.rotateSecret('acme', id, { secret: 'new', gracePeriodSeconds: 9 }), { previous_secret_expires_at: /Z$/ })
  const type = input.event_types[0] ?? ''
  t.strictSame(
    await deliveries.record('acme', { id: 'evt_1', type, body: '{}', tombstone: null, subject: 's', idempotencyKey: null, fingerprint: '' }),
    { id: 'evt_1', deliveries: 1, fingerprint: '' }
  )
  const [claimed] = await deliveries.claimDue({ limit: 5, perEndpoint: 5, leaseMs: 1000 })
  t.match(claimed, { webhookId: id, secrets: ['new', input.secret], attemptCount: 0, isFailing: false, eventId: 'evt_1' })
  const { oldestDueMs, ...counts } = await deliveries.stats()
  t.strictSame(counts, { pending: 1, due: 1, leased: 1, atLeast: { pending: false, due: false }, suspendedTenants: 0 })
  await deliveries.recordAttempts([{ webhookId: id, deliveryId: claimed?.deliveryId ?? 0, fence: claimed?.fence ?? 0, targetUrl: input.target_url, outcome: 'delivered', durationMs: 1, responseStatus: 200, error: null, responseExcerpt: null }], { failingForSeconds: 1, failedDeliveries: 1, warnAfterSeconds: 1 })
  t.match(await deliveries.find('acme', id, claimed?.deliveryId ?? 0), { status: 'delivered', attempt_count: 1, attempts: [{ duration_ms: 1 }], delivered_at: /Z$/ })
  t.strictSame(await deliveries.replay('acme', id, { include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 5 }), { queued: 1, truncated: false })
  t.equal((await deliveries.erase('acme', 's')).events, 1)

  const { id: keyId, key } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['jobs:read', 'jobs:write'] })
  t.strictSame(await postgresKeyLookup(server.createPool({ types }))({ tenantSlug: 'acme', tenantId: 'acme', key }), { id: keyId, scopes: ['jobs:read', 'jobs:write'] })
})
