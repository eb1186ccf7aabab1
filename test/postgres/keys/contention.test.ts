import t from 'tap'
import { apiKeys, postgresKeyLookup, postgresStorage } from '../../../src/storages/postgres/index.js'
import { createWebhook } from '../../../src/tools/testing/support/samples.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'

const { pool, server, storage } = await startPostgresHost(t)
const single = server.createPool({ max: 1 })
const store = postgresKeyLookup(single).store
const keys = apiKeys(single)
const session = { type: 'session', id: 'user:17' } as const
const hour = { overlapSeconds: 3600, maxKeys: 50 }

function generated (id: string) {
  return { id, digest: `digest of ${id}`, start: 'abcd', createdBy: session }
}

function newKey (id: string) {
  const limits = { allowedIps: null, candidateFields: null, jobFields: null }
  return { ...generated(id), ...limits, tenantSlug: 'acme', name: id, scopes: [], expiresInDays: 7 }
}

t.test('a write that waits for another one of its tenant holds no connection', async (t) => {
  if (store === undefined) return t.fail('no store')
  await store.create('acme', newKey('old'), { maxKeys: 50 })
  await store.create('acme', newKey('other'), { maxKeys: 50 })
  const { webhooks } = postgresStorage(single)
  const id = await webhooks.nextId('acme')
  const keyLock = "select pg_advisory_xact_lock(hashtextextended('api_keys acme', 0))"
  const rowLock = "select from recruiting.api_keys where id in ('old', 'other') for update"
  for (const [name, lock, write] of [
    ['create key', keyLock, () => store.create('acme', newKey('new'), { maxKeys: 50 })],
    ['rotate key', rowLock, () => store.rotate('acme', 'old', generated('next'), hour)],
    ['rotate key by code', rowLock, () => keys.rotate({ tenantId: 'acme' }, 'old')],
    ['revoke key', rowLock, () => store.revoke('acme', 'other', { children: true })],
    ['revoke key by code', rowLock, () => keys.revoke({ tenantId: 'acme' }, 'old')],
    ['create webhook', "select pg_advisory_xact_lock(recruiting.webhooks_lock_v1('acme'))",
      () => webhooks.create('acme', createWebhook(id), { maxPerTenant: 5 })]
  ] as const) {
    const other = await begin(pool)
    await other.query(lock)
    let isDone = false
    const result = write().finally(() => { isDone = true })
    // The pool has one connection, so this waits until the write has released it.
    for (let round = 0; round < 3; round++) await single.query('select 1')
    t.equal(isDone, false, `${name} waits`)
    await other.finish()
    t.ok(await result, name)
  }
})

t.test('prune deletes keys a year after they ended, and what they created keeps its creator', async (t) => {
  await pool.query(`
    insert into recruiting.api_keys (id, digest, tenant, tenant_slug, scopes, created_at, expires_at, replaced_at, revoked_at)
    select v.id, v.id, 'umbrella', 'umbrella', '{}', now() - interval '3 years', v.expires, v.replaced, v.revoked
    from (values
      ('expired', now() - interval '366 days', null, null), ('replaced', null, now() - interval '366 days', null),
      ('revoked', now() + interval '1 year', null, now() - interval '366 days'),
      ('with webhook', null, null, now() - interval '366 days'),
      ('lately revoked', null, null, now() - interval '364 days'),
      ('valid', now() + interval '1 year', null, null), ('unlimited', null, null, null)
    ) as v (id, expires, replaced, revoked)`)
  const [child] = await Promise.all([
    postgresKeyLookup(pool).store?.create('umbrella', { ...newKey('child'), createdBy: { type: 'key', id: 'valid' } }, { maxKeys: 50 }),
    storage.webhooks.create('umbrella', {
      ...createWebhook(await storage.webhooks.nextId('umbrella')), created_by: { type: 'key', id: 'with webhook' }
    }, { maxPerTenant: 5 })
  ])
  t.match(child, { created_by: { type: 'key', id: 'valid' } })
  const prune = () => storage.deliveries.prune({ retentionDays: 30, limit: 2 })
  t.strictSame([await prune(), await prune(), await prune()], [2, 1, 0])
  const left = await keys.list({ tenantId: 'umbrella' })
  t.strictSame(left.map(({ id }) => id).sort(), ['child', 'lately revoked', 'unlimited', 'valid', 'with webhook'])
})

t.test('the limit of keys reads only usable ones', async (t) => {
  await pool.query(`
    insert into recruiting.api_keys (id, digest, tenant, tenant_slug, scopes, created_at, expires_at, revoked_at)
    select 'ended ' || n, 'ended ' || n, 'initech', 'initech', '{}', now(), now() + interval '1 year', now()
    from generate_series(1, 3000) n;
    analyze recruiting.api_keys`)
  const client = await begin(pool, `begin; load 'auto_explain'; set local auto_explain.log_min_duration to 0;
    set local auto_explain.log_nested_statements to on; set local client_min_messages to log`)
  const plans: string[] = []
  client.on('notice', ({ message }) => { plans.push(String(message)) })
  await client.query("select recruiting.reject_key_v1('initech', null, 50)")
  await client.finish()
  const counting = plans.filter((plan) => plan.includes('Limit') && plan.includes('api_keys'))
  t.match(counting, [/api_keys_usable[^]*Index Cond: \(+tenant/])
  t.notMatch(counting.join(), /Seq Scan/)
})
