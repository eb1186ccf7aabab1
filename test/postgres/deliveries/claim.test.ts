import t from 'tap'
import type { AttemptResult } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { createEvent, createWebhook, delivered, failed, lenient } from '../../../src/tools/testing/support/samples.js'
import type { ClaimedDelivery } from '../../../src/core/ports/index.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { addWebhook, storeWebhook } from '../../fixtures/api/webhooks.js'
import { createGatedPool } from '../../fixtures/postgres/gated-pool.js'

const type = 'application.created'

/** Statements by which a host's long transaction locks rows while a result is written; `$1` is the webhook. */
const locks: Array<[name: string, text: string]> = [
  ['a replay', `insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select seq, $1, type, 3, now(), now() from recruiting.events where id = 'evt_0' for key share`],
  ['an erase', "select recruiting.erase_subject_v1('acme', 'candidate:' || $1, 10)"],
  ['a PATCH', "update recruiting.webhooks set name = 'x', revision = revision + 1 where id = $1"]
]

t.test('while a transaction holds a lock', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  for (const [name, text] of locks) {
    t.test(`of ${name}, other results are recorded immediately, and all after it ends`, async (t) => {
      await clear()
      await deliveries.record('acme', createEvent('evt_0'))
      for (const tenant of ['acme', 'globex']) {
        const id = await webhooks.nextId(tenant)
        await webhooks.create(tenant, createWebhook(id), { maxPerTenant: 10 })
        await deliveries.record(tenant, { ...createEvent(`evt_${tenant}`), subject: `candidate:${id}` })
      }
      const leases = await deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
      const [locked] = leases.filter(({ tenantId }) => tenantId === 'acme')
      const client = await begin(pool)
      await client.query(text, [locked?.webhookId])
      const left = await deliveries.recordAttempts(leases.map(delivered), lenient)
      t.ok(left.every(({ webhookId }) => webhookId === locked?.webhookId))
      const statuses = async () => (await pool.query('select status from recruiting.deliveries')).rows
      t.equal((await statuses()).length, 2 - left.length)
      await client.finish('rollback')
      t.strictSame(await deliveries.recordAttempts(leases.map(delivered), lenient), [])
      t.strictSame(await statuses(), [{ status: 'delivered' }, { status: 'delivered' }])
    })
  }
})

t.test('a locked webhook is disabled once the lock is released, and is not claimed before', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const { id, target_url: targetUrl } = await storeWebhook({ webhooks }, 'acme')
  for (const event of ['evt_1', 'evt_2']) {
    await deliveries.record('acme', { id: event, type, body: '{}', subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' })
  }
  const claim = () => deliveries.claimDue({ limit: 1, perEndpoint: 5, leaseMs: 60_000 })
  const [lease] = await claim()
  const client = await begin(pool, 'begin; select from recruiting.webhooks for update')
  await deliveries.recordAttempts([{
    webhookId: id, deliveryId: Number(lease?.deliveryId), fence: Number(lease?.fence), targetUrl, outcome: 'failed', isGone: true, durationMs: 1, responseStatus: 410, error: 'http_status', responseExcerpt: null
  }], { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e9 })
  t.same(await claim(), [])
  t.same(await deliveries.claimNotices({ limit: 5, leaseMs: 0 }), [])
  await client.finish()
  t.match(await deliveries.claimNotices({ limit: 5, leaseMs: 0 }), [{ notice: { kind: 'gone', webhookId: id } }])
  t.match(await webhooks.find('acme', id), { status: 'disabled' })
})

const options = { limit: 10, perEndpoint: 1, leaseMs: 60_000 }

t.test('a claim waits for no transaction that ends a pause, which may wait for the claim', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const id = await addWebhook(webhooks)
  await deliveries.record('acme', createEvent('evt_1'))
  const setPause = (until: string) => pool.query(`
    insert into recruiting.webhook_health
      (webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until)
    select id, revision, now(), 0, false, now() + interval '${until}' from recruiting.webhooks
    on conflict (webhook_id) do update set paused_until = excluded.paused_until`)
  const lock = () =>
    begin(pool, `begin; update recruiting.paused_webhooks set until = '-infinity' where webhook_id = ${id}`)
  await setPause('1 hour')
  t.same(await deliveries.claimDue(options), [], 'paused')
  await deliveries.record('acme', createEvent('evt_2'))
  await setPause('2 hours')
  const early = await lock()
  t.same(await deliveries.claimDue(options).finally(() => early.finish()), [], 'still paused')
  await setPause('-1 second')
  const late = await lock()
  const claimed = await deliveries.claimDue({ ...options, perEndpoint: 5 }).finally(() => late.finish())
  t.match(claimed, [{ eventId: 'evt_1' }])
  await pool.query('update recruiting.webhook_health set paused_until = null')
  t.match(await deliveries.claimDue({ ...options, perEndpoint: 5 }), [{ eventId: 'evt_2' }])
})

t.test('behind hundreds of paused endpoints', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const endPause = (id: number) => webhooks.update('acme', id, { status: 'active' })
  await pool.query(`
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at) values ('evt_1', 'acme', 'x', '{}', '', now());
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'acme', 'acme', 'x', 'active', 'https://x.example/', '{x}', 's', now(), now() from generate_series(1, 600) as n;
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select 1, n, 'job.created', 1, now(), now() from generate_series(1, 600) as n;
    insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until)
    select n, 1, now(), 0, false, now() + interval '1 hour' from generate_series(1, 600) as n`)

  t.test('nothing is claimed, and the claim stops after one round', async (t) => {
    t.same(await deliveries.claimDue(options), [])
    t.same(await deliveries.claimDue(options), [])
  })

  t.test('the only one that is not paused is found', async (t) => {
    await endPause(299)
    t.match(await deliveries.claimDue(options), [{ webhookId: 299 }])
  })

  t.test('the last one of a round is found', async (t) => {
    await endPause(250)
    await pool.query("select setval('recruiting.turns', 300)")
    t.match(await deliveries.claimDue({ ...options, limit: 2 }), [{ webhookId: 250 }])
  })
})

t.test('a claim passes the webhooks of a tenant without a free place, and finds the others', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, tenant, tenant, 'x', 'active', 'https://x.example/', '{x}', 's', now(), now()
    from generate_series(1, 600) as n, lateral (select case when n in (300, 450) then 'globex' else 'acme' end) as t (tenant);
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select 1, n, 'job.created', 1, now(), now() from generate_series(1, 600) as n`)
  const client = await begin(pool)
  const choose = async (tenants: string[], held: number[]) => {
    const { rows: [row] } = await client.query(
      `select chosen, (select sum(idx_scan) from pg_stat_xact_user_tables where schemaname = 'recruiting')::int as searches
      from recruiting.choose_webhooks_v1(64, 4, 4, '{}', 10, $1, $2)`, [tenants, held])
    return row
  }
  t.strictSame((await choose(['acme'], [10])).chosen, ['300', '450'])
  const { rows: [{ searches }] } = await client.query(
    "select sum(idx_scan)::int as searches from pg_stat_xact_user_tables where schemaname = 'recruiting'")
  t.ok(searches < 500, `${searches} searches`)
  t.strictSame((await choose([], [])).chosen.length, 7, 'five of acme')
  await client.finish('rollback')
})

t.test('a small claim finds a delivery behind deliveries locked by another transaction', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const ids: number[] = []
  for (let i = 0; i < 5; i++) {
    const id = await addWebhook(webhooks)
    ids.push(id)
  }
  await deliveries.record('acme', createEvent('evt_1'))
  for (const free of ids) {
    const client = await begin(pool)
    await client.query('select from recruiting.queue where webhook_id <> $1 for update', [free])
    const claimed = await deliveries.claimDue({ ...options, limit: 1 })
    t.same(claimed.map(({ webhookId }) => webhookId), [free])
    await client.finish('rollback')
    await deliveries.release(claimed)
  }
})

t.test('large bodies', async (t) => {
  const { pool, server, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  const all = { limit: 64, perEndpoint: 64, leaseMs: 60_000 }
  t.beforeEach(clear)

  t.test('of a claim are read in several statements', async (t) => {
    await addWebhook(webhooks)
    const bodies = Array.from({ length: 7 }, (_, index) => JSON.stringify(String(index).repeat(1_500_000)))
    for (const [index, body] of bodies.entries()) await deliveries.record('acme', { ...createEvent(`evt_${index}`), body })
    const gated = createGatedPool(pool, /read_claimed_v1/, -1)
    const claimed = await postgresStorage(gated.pool).deliveries.claimDue(all)
    t.ok(claimed.map(({ body }) => body).every((body, index) => body === bodies[index]))
    t.equal(gated.count, 3, '4 MB at a time')
  })

  t.test('do not block the claims of others while their worker reads nothing', async (t) => {
    const stalled = server.createPool()
    for (const tenant of ['acme', 'globex']) await storeWebhook({ webhooks }, tenant)
    await pool.query(`
      insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
      select n, 'acme', 'x', (select json_agg(gen_random_uuid())::text from generate_series(1, 5000 + n)), '', now()
      from generate_series(1, 60) as n;
      insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
      select e.seq, (select min(id) from recruiting.webhooks), 'x', 1, now(), now() from recruiting.events e`)
    const client = await stalled.connect()
    const answer = client.query('select * from recruiting.claim_v1(60, 60, 60000, null)')
    Reflect.get(Reflect.get(client, 'connection'), 'stream').pause()
    const text = "select from pg_stat_activity where strpos(query, 'claim_v1(60') > 0 and pid <> pg_backend_pid() and (state = 'idle' or wait_event = 'ClientWrite')"
    while ((await pool.query(text)).rows.length === 0);
    await deliveries.record('globex', { ...createEvent('evt_other'), type })
    t.same((await deliveries.claimDue(all)).map(({ eventId }) => eventId), ['evt_other'])
    Reflect.get(Reflect.get(client, 'connection'), 'stream').resume()
    t.equal((await answer).rows.length, 60)
    client.release()
  })

  t.test('that cannot be read release their leases', async (t) => {
    await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_1'))
    const gated = createGatedPool(pool, /read_claimed_v1/, 0)
    const claiming = postgresStorage(gated.pool).deliveries.claimDue(all)
    await gated.stopped
    gated.open(new Error('the network failed'))
    await t.rejects(claiming, { message: 'the network failed' })
    let claimed: ClaimedDelivery[] = []
    while (claimed.length === 0) claimed = await deliveries.claimDue(all)
    t.match(claimed, [{ eventId: 'evt_1' }])
  })
})

t.test("an inactive webhook's pending deliveries", async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)

  const claim = () => deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  const log = async (): Promise<string[]> => (await pool.query(`
    select 'pending' as status, id from recruiting.queue union all select status, id from recruiting.deliveries order by id`)).rows.map(({ status }) => status)

  t.test('are left by an emit that began before the webhook was stopped or deleted, and pruning moves them to the log', async (t) => {
    const [stopped, deleted, active] = [
      await addWebhook(webhooks),
      await addWebhook(webhooks),
      await addWebhook(webhooks)
    ]
    const client = await begin(pool)
    await deliveries.record('acme', createEvent('evt_1'), client)
    await webhooks.update('acme', stopped, { status: 'inactive' })
    await webhooks.delete('acme', deleted)
    await client.finish()

    t.strictSame(await log(), ['pending', 'pending', 'pending'])
    t.strictSame((await claim()).map(({ webhookId }) => webhookId), [active])
    t.match(await deliveries.stats(), { pending: 1 })
    t.equal(await deliveries.prune({ retentionDays: 1, limit: 10 }), 0)
    t.strictSame(await log(), ['skipped', 'cancelled', 'pending'])
  })

  t.test('are skipped, not delivered, when the webhook becomes active again', async (t) => {
    const id = await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_1'))
    // The state if a process dies between the two steps.
    await pool.query("update recruiting.webhooks set status = 'disabled'")
    await webhooks.update('acme', id, { status: 'active' })
    t.strictSame(await log(), ['skipped'])
    t.strictSame(await claim(), [])
  })
})

t.test('rare states', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)

  async function claimOne (): Promise<ClaimedDelivery> {
    await clear()
    await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_1'))
    const [claimed] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
    if (claimed === undefined) throw new Error('nothing was due')
    return claimed
  }

  t.test('a verdict on an earlier address does not disable the webhook', async (t) => {
    const { webhookId } = await claimOne()
    await webhooks.update('acme', webhookId, { target_url: 'https://new.example.com/' })
    await pool.query("insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, verdict) select id, revision - 1, now(), 1, false, 'gone' from recruiting.webhooks")
    await deliveries.record('acme', createEvent('evt_2'))
    await pool.query('update recruiting.queue set lane = 1, fence = null, leased_until = null')
    const [claimed] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
    t.ok(claimed)
    if (claimed !== undefined) await deliveries.recordAttempts([failed(claimed)], lenient)
    t.match(await webhooks.find('acme', webhookId), { status: 'active' })
    t.match((await pool.query('select verdict from recruiting.webhook_health')).rows, [{ verdict: null }])
  })

  t.test('a released first attempt is due immediately, even below a mark', async (t) => {
    const claimed = await claimOne()
    await pool.query('insert into recruiting.marks (webhook_id, first_leased, first_fresh, safe_fresh) values ($1, 0, 1000000, 1000000)', [claimed.webhookId])
    await deliveries.release([claimed])
    t.match(await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 }), [{ eventId: 'evt_1' }])
  })

  t.test('stats and hasPending begin at safe marks, like claims', async (t) => {
    await deliveries.release([await claimOne()])
    await pool.query('update recruiting.queue set lane = 1')
    const read = async () => [(await deliveries.stats()).pending, await deliveries.hasPending(0)]
    await pool.query('insert into recruiting.marks (webhook_id, first_leased, first_fresh) select webhook_id, id, id + 1 from recruiting.queue')
    t.strictSame(await read(), [1, true], 'a delivery may be committed late until the mark is safe')
    await pool.query('update recruiting.marks set safe_fresh = first_fresh')
    t.strictSame(await read(), [0, false])
    await pool.query('update recruiting.queue set lane = 2')
    t.strictSame(await read(), [1, true])
    await pool.query('delete from recruiting.marks')
  })

  t.test("a stopped delivery locked by the host's transaction is recorded later", async (t) => {
    const claimed = await claimOne()
    await webhooks.update('acme', claimed.webhookId, { status: 'inactive' })
    const client = await begin(pool)
    t.equal((await client.query('select from recruiting.deliveries for update')).rowCount, 1)
    const result = { ...failed(claimed), responseExcerpt: 'Ada Lovelace' }
    const recorded = await deliveries.recordAttempts([result], lenient)
    t.strictSame(recorded.map(({ deliveryId }) => deliveryId), [claimed.deliveryId])
    await client.finish('rollback')
    t.strictSame(await deliveries.recordAttempts([result], lenient), [])
    const found = await deliveries.find('acme', claimed.webhookId, claimed.deliveryId)
    t.match(found, { status: 'skipped', attempts: [{ response_excerpt: 'Ada Lovelace' }] })
  })

  t.test("a notice locked by the host's transaction is confirmed later", async (t) => {
    const { webhookId } = await claimOne()
    await pool.query("insert into recruiting.notices (kind, tenant, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error) values ('failing', 'acme', 'acme', $1, now(), 1, 'timeout')", [webhookId])
    const [claimed] = await deliveries.claimNotices({ limit: 1, leaseMs: 0 })
    const client = await begin(pool)
    await client.query('select from recruiting.notices for update')
    await deliveries.confirmNotice(Number(claimed?.noticeId))
    await client.finish('rollback')
    t.match(await deliveries.claimNotices({ limit: 1, leaseMs: 0 }), [{ noticeId: claimed?.noticeId }])
    await deliveries.confirmNotice(Number(claimed?.noticeId))
    t.strictSame(await deliveries.claimNotices({ limit: 1, leaseMs: 0 }), [])
  })
})

t.test('a retry concurrent with', async (t) => {
  const { pool, storage: { webhooks, deliveries }, lockWaited } = await startPostgresHost(t)

  /** A webhook with one failed delivery. */
  async function addFailed (): Promise<{ webhookId: number, id: number }> {
    const webhookId = await addWebhook(webhooks)
    await deliveries.record('acme', createEvent(`evt_${webhookId}`))
    const claimed = await deliveries.claimDue({ limit: 50, perEndpoint: 50, leaseMs: 60_000 })
    await deliveries.recordAttempts(claimed.map((lease): AttemptResult => failed(lease)), lenient)
    const id = claimed.find((lease) => lease.webhookId === webhookId)?.deliveryId ?? 0
    return { webhookId, id }
  }

  t.test("a replay that queues the event returns the replay's delivery", async (t) => {
    const { webhookId, id } = await addFailed()
    const client = await begin(pool)
    await client.query(`
      insert into recruiting.queue (event_seq, webhook_id, event_type, lane, is_replay, due_at, created_at)
      select seq, $1, type, 3, true, now(), now() from recruiting.events where id = $2`, [webhookId, `evt_${webhookId}`])
    const retrying = deliveries.retry('acme', webhookId, id)
    await lockWaited(' retry ')
    await client.finish()
    const retried = await retrying
    const filter = { status: 'pending' } as const
    const pending = await deliveries.list('acme', webhookId, { filter, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 9 })
    t.strictSame(pending, [retried])
  })

  t.test('a stop of its webhook leaves nothing pending', async (t) => {
    const { webhookId, id } = await addFailed()
    const gated = createGatedPool(pool, /check webhook/, 0)
    const retrying = postgresStorage(gated.pool).deliveries.retry('acme', webhookId, id)
    await gated.stopped
    await pool.query("update recruiting.webhooks set status = 'inactive', skip_before = nextval('recruiting.delivery_ids') where id = $1", [webhookId])
    gated.open()
    t.match(await retrying, { status: 'skipped' })
    t.equal(await deliveries.count('acme', webhookId, { status: 'pending' }), 0)
  })

  t.test('the deletion of its webhook leaves no delivery', async (t) => {
    const { webhookId, id } = await addFailed()
    const gated = createGatedPool(pool, /check webhook/, 0)
    const retrying = postgresStorage(gated.pool).deliveries.retry('acme', webhookId, id)
    await gated.stopped
    await webhooks.delete('acme', webhookId)
    gated.open()
    t.equal(await retrying, null)
  })
})
