import t from 'tap'
import { createEvent, delivered, lenient, retry } from '../../../../src/tools/testing/support/samples.js'
import { inTransaction } from '../../../../src/storages/postgres/pool.js'
import { begin, startPostgresHost } from '../../../fixtures/postgres/postgres.js'
import { addWebhook } from '../../../fixtures/api/webhooks.js'

t.test('while an old snapshot keeps deleted rows from being vacuumed', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  const claim = (perEndpoint = 10) => deliveries.claimDue({ limit: 10, perEndpoint, leaseMs: 60_000 })
  const claimIds = async (perEndpoint?: number) => (await claim(perEndpoint)).map(({ eventId }) => eventId)
  const readMarks = async () =>
    (await pool.query('select webhook_id::int as id from recruiting.marks order by 1')).rows.map(({ id }) => id)

  /** Leaves deleted rows in two lanes. */
  async function deleteMany (webhookId: number): Promise<void> {
    await pool.query(`
      insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, leased_until, created_at)
      select -n, ${webhookId}, 'job.created', n % 2, now(), case n % 2 when 0 then now() - interval '1 hour' end, now() from generate_series(1, 120000) as n;
      delete from recruiting.queue where webhook_id = ${webhookId}`)
  }

  t.beforeEach(async () => {
    await clear()
    await pool.query('delete from recruiting.marks')
  })

  t.test("claims store where a webhook's queue begins", async (t) => {
    const [busy, drained, other] = [await addWebhook(webhooks), await addWebhook(webhooks), await addWebhook(webhooks)]
    const snapshot = await begin(pool, 'begin isolation level repeatable read; select')
    for (const id of [busy, drained]) await deleteMany(id)
    await webhooks.update('acme', drained, { event_types: ['job.created'] })
    // Claims visit it each time, and move nothing.
    const deleted = 1_000_000
    await pool.query('insert into recruiting.marks (webhook_id, first_leased) values ($1, 0)', [deleted])
    await deliveries.record('acme', createEvent('evt_1'))
    const claimed: number[] = []
    // A busy machine may take as long for a queue without deleted rows.
    const readOurs = async () => (await readMarks()).filter((id) => id !== other && id !== deleted)
    while (claimed.length < 2 || (await readOurs()).length < 2) {
      claimed.push(...(await claim()).map(({ webhookId }) => webhookId))
    }
    t.same(claimed.sort(), [busy, other])
    t.same(await readOurs(), [busy, drained], 'even without deliveries in the queue')

    await deliveries.record('acme', createEvent('evt_2'))
    await deliveries.record('acme', { ...createEvent('evt_3'), type: 'job.created' })
    const later = await claim()
    t.same(later.map(({ webhookId, eventId }) => [webhookId, eventId]).sort(), [
      [busy, 'evt_2'],
      [drained, 'evt_3'],
      [other, 'evt_2']
    ])
    t.same(await deliveries.recordAttempts(later.map(delivered), lenient), [])
    await snapshot.finish('rollback')
  })

  async function markBefore (webhookId: number, eventId: string): Promise<void> {
    await pool.query('delete from recruiting.marks')
    await pool.query(
      `
      insert into recruiting.marks (webhook_id, first_leased, first_fresh, expires_at)
      select $1::bigint, q.id, q.id, now() + interval '10 seconds' from recruiting.queue q join recruiting.events e on e.seq = q.event_seq
      where q.webhook_id = $1::bigint and e.id = $2`,
      [webhookId, eventId]
    )
  }

  t.test('claims begin later permanently once no earlier transaction is open', async (t) => {
    const id = await addWebhook(webhooks)
    await pool.query(`
      insert into recruiting.queue (event_seq, webhook_id, event_type, due_at, created_at)
      select -n, 0, 'job.created', 'infinity', now() from generate_series(1, 5000) as n`)
    const late = await begin(pool)
    await deliveries.record('acme', createEvent('evt_late'), late)
    for (const event of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', createEvent(event))
    const search = () => inTransaction(pool, async (client) => {
      await client.query(
        'discard plans; set local enable_indexscan to off; set local enable_bitmapscan to off; set local enable_indexonlyscan to off'
      )
      await client.query('select recruiting.mark_v1(0, 9000000000)')
    })
    const passTime = (seconds: number) =>
      pool.query(
        "update recruiting.marks set settled_at = settled_at - $1 * interval '1 second', expires_at = expires_at - $1 * interval '1 second'",
        [seconds]
      )
    const readMark = async () =>
      (
        await pool.query(`
      select (select e.id from recruiting.queue q join recruiting.events e on e.seq = q.event_seq where q.id = m.first_fresh) as first,
        m.first_fresh = m.safe_fresh as is_safe
      from recruiting.marks m`)
      ).rows[0]

    await search()
    await passTime(3)
    await search()
    t.strictSame(await readMark(), { first: null, is_safe: true }, 'the open transaction may add deliveries')
    t.same(await claimIds(1), ['evt_1'])
    await passTime(8)
    await search()
    t.strictSame(await readMark(), { first: 'evt_2', is_safe: false }, 'the transaction stays open')

    await late.finish()
    t.same(await claimIds(2), ['evt_2'], 'it has waited long enough')
    await passTime(11)
    t.same(await claimIds(3), ['evt_late'], 'until the mark expires')
    // Transactions in the databases of other tests may be open.
    do {
      await passTime(3)
      await search()
    } while ((await readMark()).is_safe === false)
    t.strictSame(await readMark(), { first: 'evt_3', is_safe: true })

    await pool.query('update recruiting.queue set id = 0 where lane = 1 and webhook_id = $1', [id])
    t.same(await claimIds(4), [], 'an id that was taken long ago')
    await pool.query("update recruiting.marks set marked_at = now() - interval '11 minutes'")
    t.same(await claimIds(4), ['evt_3'], 'after ten minutes')
  })

  t.test('retries are claimed with any mark, and count towards the limit', async (t) => {
    const id = await addWebhook(webhooks)
    await deliveries.record('acme', createEvent('evt_retry'))
    await deliveries.recordAttempts((await claim()).map((lease) => retry(lease, { retryInMs: 0 })), lenient)
    for (const event of ['evt_1', 'evt_2']) await deliveries.record('acme', createEvent(event))
    await markBefore(id, 'evt_2')
    t.same(await claimIds(2), ['evt_2', 'evt_retry'])
    t.same(await claimIds(2), [])
    t.same(await claimIds(3), [], 'evt_1 is below the mark')
    // The clock went back.
    await pool.query("update recruiting.marks set expires_at = now() + interval '1 hour'")
    t.same(await claimIds(3), ['evt_1'])
  })
})
