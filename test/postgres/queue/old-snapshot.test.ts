import t from 'tap'
import { createEvent, createWebhook, delivered, lenient, retry } from '../../../src/testing/support/samples.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('while an old snapshot keeps deleted rows from being vacuumed', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  const claim = (perEndpoint = 10) => deliveries.claimDue({ limit: 10, perEndpoint, leaseMs: 60_000 })
  const claimIds = async (perEndpoint?: number) => (await claim(perEndpoint)).map(({ eventId }) => eventId)
  const readMarks = async () => (await pool.query('select webhook_id::int as id from recruiting.marks order by 1')).rows.map(({ id }) => id)

  async function addWebhook (): Promise<number> {
    const id = await webhooks.nextId('acme')
    await webhooks.create('acme', createWebhook(id), 10)
    return id
  }

  async function deleteMany (webhookId: number): Promise<void> {
    await pool.query(`
      insert into recruiting.queue (event_seq, webhook_id, lane, due_at, created_at) select -n, ${webhookId}, 1, now(), now() from generate_series(1, 150000) as n;
      update recruiting.queue set lane = 0, leased_until = now() - interval '1 hour' where webhook_id = ${webhookId};
      delete from recruiting.queue where webhook_id = ${webhookId}`)
  }

  t.beforeEach(async () => {
    await clear()
    await pool.query('delete from recruiting.marks')
  })

  t.test('claims remember where the queue of a webhook begins', async (t) => {
    const [busy, drained, other] = [await addWebhook(), await addWebhook(), await addWebhook()]
    const snapshot = await pool.connect()
    await snapshot.query('begin isolation level repeatable read; select')
    for (const id of [busy, drained]) await deleteMany(id)
    await webhooks.update('acme', drained, { event_types: ['job.created'] })
    await deliveries.record('acme', createEvent('evt_1'))
    const claimed: number[] = []
    while (claimed.length < 2 || (await readMarks()).length < 2) claimed.push(...(await claim()).map(({ webhookId }) => webhookId))
    t.same(claimed.sort(), [busy, other])
    t.same(await readMarks(), [busy, drained], 'also of one that has nothing in the queue')

    await deliveries.record('acme', createEvent('evt_2'))
    await deliveries.record('acme', { ...createEvent('evt_3'), type: 'job.created' })
    const later = await claim()
    t.same(later.map(({ webhookId, eventId }) => [webhookId, eventId]).sort(), [[busy, 'evt_2'], [drained, 'evt_3'], [other, 'evt_2']])
    t.same(await deliveries.complete(later.map(delivered), lenient), [])
    await snapshot.query('rollback')
    snapshot.release()
  })

  async function markBefore (webhookId: number, eventId: string): Promise<void> {
    await pool.query(`
      insert into recruiting.marks (webhook_id, first_leased, first_fresh, expires_at)
      select $1::bigint, q.id, q.id, now() + interval '1 hour' from recruiting.queue q join recruiting.events e on e.seq = q.event_seq
      where q.webhook_id = $1::bigint and e.id = $2`, [webhookId, eventId])
  }

  t.test('deliveries committed later with a lower id are claimed after the mark has expired', async (t) => {
    const id = await addWebhook()
    for (const event of ['evt_late', 'evt_1', 'evt_2']) await deliveries.record('acme', createEvent(event))
    await markBefore(id, 'evt_1')
    t.same(await claimIds(), ['evt_1', 'evt_2'])
    t.same(await claimIds(), [])
    await pool.query('update recruiting.marks set expires_at = now()')
    t.same(await claimIds(), ['evt_late'])
    t.same(await readMarks(), [])
  })

  t.test('retries are claimed whatever the mark, and count for the cap', async (t) => {
    const id = await addWebhook()
    await deliveries.record('acme', createEvent('evt_retry'))
    await deliveries.complete((await claim()).map((lease) => retry(lease, { retryInMs: 0 })), lenient)
    for (const event of ['evt_1', 'evt_2']) await deliveries.record('acme', createEvent(event))
    await markBefore(id, 'evt_2')
    t.same(await claimIds(2), ['evt_2', 'evt_retry'])
    t.same(await claimIds(2), [])
    t.same(await claimIds(3), [], 'evt_1 is below the mark')
    await pool.query('delete from recruiting.marks')
    t.same(await claimIds(3), ['evt_1'])
  })
})
