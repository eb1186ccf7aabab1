import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys } from '../../src/postgres/index.js'
import { createEvent, createWebhook, delivered, failed, lenient, retry } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('with a publication for all tables, every statement works', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const { webhooks, deliveries, changes, holds, verify } = storage
  await pool.query('create publication everything for all tables')
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000, environment: 'production' })

  async function addWebhook (tenant: string): Promise<number> {
    const id = await webhooks.nextId(tenant)
    await webhooks.create(tenant, createWebhook(id), 10)
    return id
  }

  await verify(null)
  const first = await addWebhook('acme')
  await deliveries.record('acme', { ...createEvent('evt_1'), subject: 'candidate:1', otherSubjects: ['job:1'], idempotencyKey: 'once' })
  const leases = await claim()
  t.equal(leases.length, 1)
  await deliveries.release(leases)
  await deliveries.recordAttempts((await claim()).map((lease) => retry(lease)), lenient)
  await deliveries.retry('acme', first, leases[0]?.deliveryId ?? 0)
  await deliveries.recordAttempts((await claim()).map(delivered), lenient)
  t.match(await deliveries.replay('acme', first, {
    include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 10
  }), { queued: 1 })
  await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  await deliveries.record('acme', createEvent('evt_2'))
  await deliveries.recordAttempts((await claim()).map((lease) => failed(lease, { isGone: true })), lenient)
  const [notice] = await deliveries.claimNotices({ limit: 5, leaseMs: 60_000 })
  await deliveries.confirmNotice(notice?.noticeId ?? t.fail('no notice') as never)
  await webhooks.update('acme', first, { status: 'active' })
  await webhooks.rotateSecret('acme', first, { secret: 'new', gracePeriodSeconds: 60 })
  await webhooks.delete('acme', first)

  const { id: keyId } = await apiKeys(pool).issue({ tenantSlug: 'acme', scopes: ['webhooks:read'] })
  await apiKeys(pool).revoke({ tenantSlug: 'acme' }, keyId)
  for (const deleted of [false, true, true]) await changes.record('acme', { kind: 'candidate', id: '1', deleted })
  await changes.prune({ retentionDays: 1, limit: 10 })
  await pool.query("update recruiting.changes set changed_at = now() - interval '2 days'")
  t.equal(await changes.prune({ retentionDays: 1, limit: 10 }), 1)
  await pool.query("update recruiting.events set recorded_at = now() - interval '2 days'; update recruiting.deliveries set created_at = now() - interval '2 days'")
  t.ok(await deliveries.prune({ retentionDays: 1, limit: 10 }) > 0)

  await pool.query('update recruiting.home set database_oid = 1')
  await t.rejects(claim(), { code: 'held' })
  await holds.adopt({ environment: 'production', pending: 'discard' })
  await addWebhook('acme')
  await recruiting.renameTenant('acme', 'globex')
  await recruiting.removeTenant('globex')
  await pool.query('select recruiting.end_sync_tokens()')
  t.equal((await pool.query('select from recruiting.webhooks')).rows.length, 0)
})

t.test('every table has a primary key', async (t) => {
  const { pool } = await startPostgresHost(t)
  const { rows } = await pool.query(`
    select c.relname from pg_class c
    where c.relnamespace = 'recruiting'::regnamespace and c.relkind in ('r', 'p')
      and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`)
  t.same(rows, [])
})

t.test('a claim that finds nothing to do writes nothing', async (t) => {
  const { pool } = await startPostgresHost(t)
  const client = await pool.connect()
  t.teardown(() => client.release())
  await client.query('begin')
  t.same((await client.query('select * from recruiting.claim_v1(10, 10, 60000, null)')).rows, [])
  const { rows: [{ xid }] } = await client.query('select pg_current_xact_id_if_assigned()::text as xid')
  t.equal(xid, null)
  await client.query('rollback')
})
