import t from 'tap'
import type { ReplaySelection } from '../../../src/index.js'
import { createReplay } from '../../../src/storages/postgres/deliveries/replay.js'
import { createPatientSession } from '../../../src/storages/postgres/session.js'
import { createEvent, createWebhook } from '../../../src/tools/testing/support/samples.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('a replay reads each event once, in batches, up to a bound', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const { id } = await storeWebhook(storage, 'acme', { name: 'CRM', eventTypes: ['job.created'] })
  // Several events have the same time.
  await pool.query(`
    insert into recruiting.events (tenant_key, id, type, body, fingerprint, recorded_at)
    select 'acme', 'evt_' || n, case when n % 3 = 0 then 'job.updated' else 'job.created' end, '{"n":' || n || '}', '',
      timestamptz '2026-01-01' + n / 4 * interval '1 microsecond'
    from generate_series(1, 20) n`)
  const none = { sweepIfStopped: async () => {} } as unknown as Parameters<typeof createReplay>[2]
  const session = createPatientSession(pool)
  const usual = { events: 100, batch: 3, ms: 60_000 }
  const all: ReplaySelection = {
    include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 100
  }
  const count = (bounds: object, selection: object = {}) =>
    createReplay(session, 'recruiting', none, { ...usual, ...bounds }).countReplay('acme', id, { ...all, ...selection })

  t.strictSame(await count({}), { queued: 14, truncated: false })
  t.strictSame(await count({ batch: 20 }), { queued: 14, truncated: false })
  t.strictSame(await count({ events: 8 }), { queued: 6, truncated: true }, 'the bound of events')
  t.strictSame(await count({ ms: 0 }), { queued: 2, truncated: true }, 'the bound of time')
  t.strictSame(await count({}, { limit: 14 }), { queued: 14, truncated: false })
  t.strictSame(await count({}, { limit: 4 }), { queued: 4, truncated: true }, 'the limit, at the end of a batch')
  t.strictSame(await count({}, { limit: 5 }), { queued: 5, truncated: true }, 'the limit, within a batch')
  t.equal(await createReplay(session, 'recruiting', none, usual).countReplay('acme', 999, all), null)

  const replay = (bounds: object, limit: number) =>
    createReplay(session, 'recruiting', none, { ...usual, ...bounds }).replay('acme', id, { ...all, limit })
  t.strictSame(await replay({ events: 6 }, 100), { queued: 4, truncated: true })
  t.strictSame(await replay({}, 5), { queued: 5, truncated: true })
  t.strictSame(await replay({}, 100), { queued: 5, truncated: false })
  const { rows } = await pool.query(
    'select e.id from recruiting.queue q join recruiting.events e on e.seq = q.event_seq order by q.id'
  )
  const expected = Array.from({ length: 20 }, (_, at) => at + 1).filter((n) => n % 3 !== 0).map((n) => `evt_${n}`)
  t.strictSame(rows.map(({ id }) => id), expected)
})

t.test('an erase takes events up to a bound; the next call continues, even with deliveries queued since', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const id = await webhooks.nextId('acme')
  await webhooks.create('acme', createWebhook(id), { maxPerTenant: 10 })
  const about = { subject: 'candidate:1', tombstone: '{"erased":true}' }
  for (const event of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', { ...createEvent(event), ...about })
  async function erase (): Promise<unknown> {
    const {
      rows: [{ result }]
    } = await pool.query("select recruiting.erase_subject_v1('acme', 'candidate:1', 2) as result")
    const { rows } = await pool.query(`
      select count(*) filter (where body <> tombstone)::int as kept, (select count(*)::int from recruiting.queue) as queued
      from recruiting.events`)
    return { ...result, ...rows[0] }
  }
  t.strictSame(await erase(), { events: 3, truncated: true, kept: 1, queued: 1 })
  t.strictSame(await erase(), { events: 3, truncated: false, kept: 0, queued: 0 })
  const all = { include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 10 } as const
  await deliveries.replay('acme', id, all)
  t.strictSame(await erase(), { events: 3, truncated: true, kept: 0, queued: 1 })
  t.strictSame(await deliveries.erase('acme', 'candidate:1'), { events: 3, truncated: false })
  t.match(await deliveries.stats(), { pending: 0 })
})
