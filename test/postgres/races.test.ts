import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { PoolClient } from 'pg'
import { apiKeys, postgresKeyLookup } from '../../src/storages/postgres/index.js'
import { createEvent, delivered, failed, lenient, named } from '../../src/tools/testing/support/samples.js'
import { begin, startPostgresHost } from '../fixtures/postgres/postgres.js'
import { addWebhook } from '../fixtures/api/webhooks.js'

const { pool, storage: { webhooks, deliveries }, clear, lockWaited } = await startPostgresHost(t)
const keys = apiKeys(pool)
const lookUp = postgresKeyLookup(pool)
const renameTo = { reseal: (secret: string) => secret, restSeconds: 3660 }
const undelivered = { include: 'undelivered', eventTypes: null, eventIds: null, since: null, until: null, limit: 10 } as const

t.beforeEach(clear)

const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
const eventIds = async () => (await claim()).map(({ eventId }) => eventId)

t.test('the grace period starts after the change that a rotation waited for', async (t) => {
  const id = await addWebhook(webhooks)
  const other = await begin(pool)
  await other.query("update recruiting.webhooks set name = 'other' where id = $1", [id])
  const rotating = webhooks.rotateSecret('acme', id, { secret: 'new', gracePeriodSeconds: 1 })
  await lockWaited('rotate secret')
  await sleep(1100)
  const { rows: [{ now }] } = await other.query("select date_trunc('milliseconds', clock_timestamp()) as now")
  await other.finish()
  const rotated = await rotating
  t.ok(Date.parse(String(rotated?.updated_at)) >= now.getTime())
  t.ok(Date.parse(String(rotated?.previous_secret_expires_at)) >= now.getTime() + 1000)
})

t.test('a key rotated while its tenant is renamed or removed moves with it and gets the new slug', async (t) => {
  async function rotateDuring (change: () => Promise<unknown>, functionName: string) {
    const old = await keys.issue({ tenantSlug: 'acme', scopes: [] })
    const host = await begin(pool)
    const { id, key } = await keys.rotate({ tenantSlug: 'acme' }, old.id, { overlapSeconds: 60 }, { transaction: host })
    const changing = change()
    await lockWaited(functionName)
    await host.finish()
    await changing
    return { id, key }
  }
  const renamed = await rotateDuring(() => webhooks.renameTenant(named('acme'), named('initech'), renameTo), 'rename_tenant_v1')
  t.ok(await lookUp({ tenantSlug: 'initech', tenantId: 'initech', key: renamed.key }))
  await clear()
  const removed = await rotateDuring(() => webhooks.removeTenant('acme', { limit: 10, restSeconds: 0 }), 'remove_tenant_v1')
  t.equal(await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key: removed.key }), null)
  await clear()
  const kept = await rotateDuring(() => webhooks.renameTenant({ id: 'acme', slug: 'acme' }, { id: 'acme', slug: 'Acme' }, renameTo), 'name_tenant_v1')
  t.match(await keys.find({ tenantId: 'acme' }, kept.id), { tenantSlug: 'Acme' })
})

t.test("an event that waited for another one with its idempotency key reaches its renamed tenant's webhooks", async (t) => {
  const id = await addWebhook(webhooks)
  const host = await begin(pool)
  await deliveries.record('acme', { ...createEvent('evt_1'), idempotencyKey: 'a' }, host)
  const recording = deliveries.record('acme', { ...createEvent('evt_2'), idempotencyKey: 'a' })
  await lockWaited('record_event_v1')
  await webhooks.renameTenant(named('acme'), named('initech'), renameTo)
  await host.finish('rollback')
  t.match(await recording, { id: 'evt_2', deliveries: 1 })
  t.equal(await deliveries.count('initech', id, {}), 1)
})

t.test('an event that waited for another one with its idempotency key is skipped for webhooks that became inactive', async (t) => {
  const id = await addWebhook(webhooks)
  const host = await begin(pool)
  await deliveries.record('acme', { ...createEvent('evt_1'), idempotencyKey: 'a' }, host)
  const recording = deliveries.record('acme', { ...createEvent('evt_2'), idempotencyKey: 'a' })
  await lockWaited('record_event_v1')
  await webhooks.update('acme', id, { status: 'inactive' })
  await host.finish('rollback')
  t.match(await recording, { id: 'evt_2', deliveries: 0 })
  t.equal(await deliveries.count('acme', id, { status: 'skipped' }), 1)
})

t.test('an event that waited for another one with its idempotency key reaches no webhook if its tenant was removed', async (t) => {
  await addWebhook(webhooks)
  const host = await begin(pool)
  await deliveries.record('acme', { ...createEvent('evt_1'), idempotencyKey: 'a' }, host)
  const recording = deliveries.record('acme', { ...createEvent('evt_2'), idempotencyKey: 'a' })
  await lockWaited('record_event_v1')
  await webhooks.removeTenant('acme', { limit: 10, restSeconds: 0 })
  const next = await addWebhook(webhooks)
  await host.finish('rollback')
  t.match(await recording, { id: 'evt_2', deliveries: 0 })
  t.equal(await deliveries.count('acme', next, {}), 0)
})

t.test('an erase removes the response excerpt of an attempt recorded at the same time', async (t) => {
  const id = await addWebhook(webhooks)
  await deliveries.record('acme', { ...createEvent('evt_1'), subject: 'candidate:1', tombstone: '{}' })
  const [lease] = await claim()
  if (lease === undefined) return t.fail('nothing was claimed')
  await webhooks.update('acme', id, { status: 'inactive' })
  const other = await begin(pool)
  await other.query("select pg_advisory_xact_lock(hashtextextended('recruiting.health', 0))")
  const recording = deliveries.recordAttempts([{ ...failed(lease), responseExcerpt: 'about Ada' }], lenient)
  await lockWaited('record_attempts_v1')
  const erasing = deliveries.erase('acme', 'candidate:1')
  await Promise.race([erasing, lockWaited('erase_subject_v1')])
  await other.finish()
  await Promise.all([recording, erasing])
  const found = await deliveries.find('acme', id, lease.deliveryId)
  t.equal(found?.attempts.length, 1)
  t.notMatch(JSON.stringify(found), /Ada/)
})

t.test('no response excerpt is stored for an event whose erase is uncommitted', async (t) => {
  const id = await addWebhook(webhooks)
  await deliveries.record('acme', { ...createEvent('evt_1'), subject: 'candidate:1', tombstone: '{"erased":true}' })
  const [first] = await claim()
  if (first === undefined) return t.fail('nothing was claimed')
  await deliveries.recordAttempts([failed(first)], lenient)
  const host = await begin(pool)
  await deliveries.erase('acme', 'candidate:1', host)
  const retried = await deliveries.retry('acme', id, first.deliveryId)
  const [second] = await claim()
  if (retried === null || second === undefined) return t.fail('nothing was claimed again')
  await host.finish()
  await deliveries.recordAttempts([{ ...failed(second), responseExcerpt: 'about Ada' }], lenient)
  const found = await deliveries.find('acme', id, retried.id)
  t.equal(found?.attempts.length, 1)
  t.notMatch(JSON.stringify(found), /Ada/)
})

for (const again of ['replay', 'retry'] as const) {
  t.test(`a slow replay does not queue an event that a ${again} has already delivered`, async (t) => {
    const id = await addWebhook(webhooks)
    for (const event of ['evt_1', 'evt_2']) await deliveries.record('acme', createEvent(event))
    const leases = await claim()
    await deliveries.recordAttempts(leases.map((lease) => failed(lease)), lenient)
    const other = await begin(pool)
    await other.query("select from recruiting.events where id = 'evt_2' for update")
    const replaying = deliveries.replay('acme', id, undelivered)
    await lockWaited(' replay ')
    const first = leases.find(({ eventId }) => eventId === 'evt_1')?.deliveryId ?? 0
    if (again === 'replay') await deliveries.replay('acme', id, { ...undelivered, eventIds: ['evt_1'] })
    else await deliveries.retry('acme', id, first)
    t.equal((await deliveries.recordAttempts((await claim()).map(delivered), lenient)).length, 0)
    await other.finish()
    t.strictSame(await replaying, { queued: 1, truncated: false })
    t.strictSame(await eventIds(), ['evt_2'])
  })
}

t.test('a warning during a rename is reported under the new name, and one during a removal is dropped', async (t) => {
  const warn = { ...lenient, warnAfterSeconds: 0 }
  async function failDuring (change: (host: PoolClient) => Promise<unknown>): Promise<void> {
    await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_1'))
    const leases = await claim()
    const host = await begin(pool)
    await change(host)
    await deliveries.recordAttempts(leases.map((lease) => failed(lease)), warn)
    await host.finish()
  }
  const noticed = async () => (await deliveries.claimNotices({ limit: 10, leaseMs: 60_000 }))
    .map(({ notice }) => [notice.kind, notice.tenantId])

  await failDuring((host) => webhooks.renameTenant(named('acme'), named('initech'), { ...renameTo, transaction: host }))
  t.strictSame(await noticed(), [])
  await deliveries.record('initech', createEvent('evt_2'))
  await deliveries.recordAttempts((await claim()).map((lease) => failed(lease)), warn)
  t.strictSame(await noticed(), [['failing', 'initech']])
  await clear()
  await failDuring((host) => webhooks.removeTenant('acme', { limit: 10, restSeconds: 0, transaction: host }))
  t.strictSame(await noticed(), [])
})

t.test('a replay during a removal leaves no deliveries', async (t) => {
  const id = await addWebhook(webhooks)
  await deliveries.record('acme', createEvent('evt_1'))
  await deliveries.recordAttempts((await claim()).map((lease) => failed(lease)), lenient)
  const replay = await begin(pool)
  await replay.query(`
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, is_replay, due_at, created_at)
    select e.seq, $1, e.type, 3, true, now(), now() from (select seq, type from recruiting.events for key share) as e`, [id])
  const removing = webhooks.removeTenant('acme', { limit: 10, restSeconds: 0 })
  await lockWaited('remove_tenant_v1')
  await replay.finish()
  await removing
  const { rows } = await pool.query('select event_seq from recruiting.queue union all select event_seq from recruiting.deliveries')
  t.strictSame(rows, [])
})

t.test("changing a tenant's slug and its id at the same time does not deadlock", async (t) => {
  const id = await addWebhook(webhooks)
  await keys.issue({ tenantSlug: 'acme', scopes: [] })
  const other = await begin(pool)
  await other.query('select from recruiting.webhooks where id = $1 for update', [id])
  const renaming = webhooks.renameTenant(named('acme'), named('initech'), renameTo)
  await lockWaited('lock_tenant_v1')
  const naming = webhooks.renameTenant({ id: 'acme', slug: 'acme' }, { id: 'acme', slug: 'Acme' }, renameTo)
  await lockWaited('name_tenant_v1')
  await other.finish()
  t.strictSame(await Promise.all([renaming, naming]), [1, 0])
})
