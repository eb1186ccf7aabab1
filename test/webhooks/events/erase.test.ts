import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { collect } from '../../fixtures/collect.js'

const subject = { tenantSlug: 'acme', subject: 'candidate:42' }
const event = { ...subject, type: 'application.created', data: { full_name: 'Ada Lovelace' } } as const

t.test('a replay of an erased event sends a tombstone with the same id and time', async (t) => {
  const { app, receiver, webhook, call, drain } = await startDelivering(t)
  const { id } = await app.recruiting.emit({ ...event, occurredAt: '2026-01-01T00:00:00Z' })
  await drain()
  await app.recruiting.erase(subject)
  await call('POST', `/webhooks/${webhook.id}/replay`, { event_ids: [id], include: 'all' })
  await drain()

  t.equal(receiver.requests.length, 2)
  t.match(first(receiver.requests).body, /Ada/)
  const { sequence } = JSON.parse(first(receiver.requests).body)
  t.strictSame(JSON.parse(receiver.requests[1]?.body ?? ''), {
    id, type: 'application.created', timestamp: '2026-01-01T00:00:00.000Z', sequence, tenant_slug: 'acme', data: null, erased: true
  })
})

t.test('erase calls the storage until every event is erased', async (t) => {
  const storage = memoryStorage()
  const { erase } = storage.deliveries
  let calls = 0
  storage.deliveries.erase = async (...args) => ({ ...await erase(...args), truncated: ++calls < 3 })
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  await recruiting.emit({ ...event, data: { id: 1 } })
  t.equal(await recruiting.erase(subject), 1)
  t.equal(calls, 3)
})

t.test('erase rejects a bad subject, tenant or transaction', async (t) => {
  const { app } = await startDelivering(t)
  for (const subject of ['', 'x'.repeat(256), 'a\0b', '\ud800']) {
    await t.rejects(app.recruiting.erase({ tenantSlug: 'acme', subject }), { code: 'invalid_event', field: 'subject' })
  }
  await t.rejects(app.recruiting.erase({ tenantSlug: '', subject: 'x' }), { code: 'invalid_event', field: 'tenantSlug' })
  await t.rejects(app.recruiting.erase(subject, { transaction: {} }), { code: 'invalid_event', field: 'transaction' })
})

t.test('erase rejects non-objects and unknown names, and erases nothing', async (t) => {
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

const eventOfAda = { tenantSlug: 'acme', type: 'application.created', data: { full_name: 'Ada Lovelace' }, subject: 'candidate:42', subjects: ['job:7', 'candidate:42'] } as const

t.test('findSubject lists the webhooks that each event was sent to and when, for each of its subjects', async (t) => {
  const { app, receiver, webhook, drain } = await startDelivering(t, { delivery: { retrySchedule: [0, 0] } })
  receiver.answer(500)
  const { id } = await app.recruiting.emit(eventOfAda)
  await drain()
  const found = await collect(app.recruiting.findSubject('acme', 'candidate:42'))
  t.match(found, [{
    eventId: id,
    eventType: 'application.created',
    recordedAt: /Z$/,
    isErased: false,
    deliveries: [{
      webhookId: webhook.id,
      webhookName: 'CRM',
      targetUrl: receiver.url,
      status: 'failed',
      deliveredAt: null,
      attempts: [{ startedAt: /Z$/, responseStatus: 500, error: 'http_status' }, { startedAt: /Z$/, responseStatus: 500, error: 'http_status' }]
    }]
  }])
  t.strictSame(Object.keys(found[0] ?? {}), ['eventId', 'eventType', 'recordedAt', 'isErased', 'deliveries'])
  t.same(await collect(app.recruiting.findSubject('acme', 'job:7')), found)
  t.same(await collect(app.recruiting.findSubject('globex', 'job:7')), [])
  t.equal(await app.recruiting.erase({ tenantSlug: 'acme', subject: 'job:7' }), 1)
  t.match(await collect(app.recruiting.findSubject('acme', 'candidate:42')), [{ isErased: true }])
})

t.test('findSubject reads all pages', async (t) => {
  const { app } = await startDelivering(t, { delivery: { worker: false } })
  const ids: string[] = []
  for (let count = 0; count < 200; count++) ids.push((await app.recruiting.emit(eventOfAda)).id)
  t.same((await collect(app.recruiting.findSubject('acme', 'job:7'))).map(({ eventId }) => eventId), ids)
})

t.test('with requireSubject, an event without a subject is rejected', async (t) => {
  const { app, log } = await startDelivering(t, { requireSubject: true, delivery: { worker: false } })
  const { subject: _, subjects: __, ...nobody } = eventOfAda
  const message = 'subject: expected a subject, because the option requireSubject is set'
  await t.rejects(app.recruiting.emit(nobody), { code: 'invalid_event', field: 'subject', message })
  await t.rejects(app.recruiting.emit({ ...nobody, subjects: [] }), { message })
  t.same(await log(), [])
  await app.recruiting.emit({ ...nobody, subjects: ['job:7'] })
  await app.recruiting.emit({ ...nobody, subject: 'job:7' })
})

t.test('findSubject rejects a bad tenant or subject, and throws after close', async (t) => {
  const { app } = await startDelivering(t)
  for (const subject of ['', 'x'.repeat(256), 'a\0b', 42]) {
    await t.rejects(collect(app.recruiting.findSubject('acme', subject as string)), {
      code: 'invalid_input', field: 'subject', message: /^subject: expected text of 1 to 255 characters without control characters, got /
    })
  }
  await t.rejects(collect(app.recruiting.findSubject('', 'x')), { code: 'invalid_input', field: 'tenantSlug' })
  await app.close()
  await t.rejects(collect(app.recruiting.findSubject('acme', 'x')), { code: 'closed' })
})
