import t from 'tap'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'

const subject = { tenantSlug: 'acme', subject: 'candidate:42' }
const event = { ...subject, type: 'application.created', data: { full_name: 'Ada Lovelace' } } as const

t.test('an erased event is not delivered, and a replay of it sends a tombstone', async (t) => {
  const { app, receiver, webhook, call, drain, lastDelivery } = await startDelivering(t, { delivery: { worker: false } })
  const { id } = await app.recruiting.emit({ ...event, occurredAt: '2026-01-01T00:00:00Z' })
  t.equal(await app.recruiting.erase(subject), 1)
  t.hasStrict(await lastDelivery(), { event_id: id, status: 'cancelled', attempt_count: 0 })

  const { status } = await call('POST', `/webhooks/${webhook.id}/replay`, { event_ids: [id], include: 'all' })
  t.equal(status, 202)
  t.equal(await app.recruiting.erase(subject), 1)
  t.hasStrict(await lastDelivery(), { event_id: id, status: 'cancelled', attempt_count: 0 })
  t.equal(receiver.requests.length, 0)
  await drain()
})

t.test('a replay of an erased event sends a tombstone with the same id and time', async (t) => {
  const { app, receiver, webhook, call, drain } = await startDelivering(t)
  const { id } = await app.recruiting.emit({ ...event, occurredAt: '2026-01-01T00:00:00Z' })
  await drain()
  await app.recruiting.erase(subject)
  await call('POST', `/webhooks/${webhook.id}/replay`, { event_ids: [id], include: 'all' })
  await drain()

  t.equal(receiver.requests.length, 2)
  t.match(first(receiver.requests).body, /Ada/)
  t.strictSame(JSON.parse(receiver.requests[1]?.body ?? ''), {
    id, type: 'application.created', timestamp: '2026-01-01T00:00:00.000Z', tenant_slug: 'acme', data: null, erased: true
  })
})

t.test('only the events of the subject are erased, and only those of the tenant', async (t) => {
  const { app, receiver, drain } = await startDelivering(t, { delivery: { concurrency: 1 } })
  t.equal(await app.recruiting.erase({ ...subject, tenantSlug: 'globex' }), 0)
  t.equal(await app.recruiting.erase({ ...subject, subject: 'candidate:4' }), 0)
  await app.recruiting.emit(event)
  await app.recruiting.erase({ ...subject, tenantSlug: 'globex' })
  await app.recruiting.erase({ ...subject, subject: 'candidate:420' })
  await drain()
  t.match(first(receiver.requests).body, /Ada/)
})

t.test('a delivery erased during its attempt is delivered or cancelled, and not retried', async (t) => {
  const { app, receiver, drain, retry, log } = await startDelivering(t)
  receiver.answer(500)
  await app.recruiting.emit(event)
  await drain()
  await app.recruiting.erase(subject)
  await retry()
  t.equal(receiver.requests.length, 1)
  t.hasStrict(await log(), [{ status: 'cancelled', attempt_count: 1 }])
})

t.test('a subject and a tenant that cannot be are refused', async (t) => {
  const { app } = await startDelivering(t)
  for (const subject of ['', 'x'.repeat(256), 'a\0b', '\ud800']) {
    await t.rejects(app.recruiting.erase({ tenantSlug: 'acme', subject }), { code: 'invalid_event', field: 'subject' })
  }
  await t.rejects(app.recruiting.erase({ tenantSlug: '', subject: 'x' }), { code: 'invalid_event', field: 'tenantSlug' })
  await t.rejects(app.recruiting.erase(subject, { transaction: {} }), { code: 'invalid_event', field: 'transaction' })
})

t.test('erase refuses what is no subject and names it does not know, and erases nothing', async (t) => {
  const { app, log } = await startDelivering(t)
  await app.recruiting.emit(event)
  await t.rejects(app.recruiting.erase(undefined as never), { code: 'invalid_event', field: 'subject', message: 'subject: expected an object' })
  await t.rejects(app.recruiting.erase({ ...subject, subjects: [] } as never), {
    code: 'invalid_event', field: 'subjects', message: 'subjects: expected a known name such as subject'
  })
  await t.rejects(app.recruiting.erase(subject, { transation: {} } as never), {
    code: 'invalid_event', field: 'transation', message: 'transation: expected a known name such as transaction'
  })
  t.hasStrict(await log(), [{ status: 'pending' }])
})

t.test('erasing throws when the engine is closed', async (t) => {
  const { app } = await startDelivering(t)
  await app.close()
  await t.rejects(app.recruiting.erase(subject), { code: 'closed' })
})
