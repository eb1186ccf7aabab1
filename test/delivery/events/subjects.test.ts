import t from 'tap'
import { collect } from '../../fixtures/collect.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { full_name: 'Ada Lovelace' }, subject: 'candidate:42', subjects: ['job:7', 'candidate:42'] } as const

t.test('findSubject says which webhooks an event was sent to, and when, by each subject', async (t) => {
  const { app, receiver, webhook, drain } = await startDelivering(t, { delivery: { retrySchedule: [0, 0] } })
  receiver.answer(500)
  const { id } = await app.recruiting.emit(event)
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

t.test('findSubject reads on after a page', async (t) => {
  const { app } = await startDelivering(t, { delivery: { worker: false } })
  const ids: string[] = []
  for (let count = 0; count < 200; count++) ids.push((await app.recruiting.emit(event)).id)
  t.same((await collect(app.recruiting.findSubject('acme', 'job:7'))).map(({ eventId }) => eventId), ids)
})

t.test('an event without a subject is refused if the option says so', async (t) => {
  const { app, log } = await startDelivering(t, { requireSubject: true, delivery: { worker: false } })
  const { subject: _, subjects: __, ...nobody } = event
  const message = 'subject: expected a subject, because the option requireSubject is set'
  await t.rejects(app.recruiting.emit(nobody), { code: 'invalid_event', field: 'subject', message })
  await t.rejects(app.recruiting.emit({ ...nobody, subjects: [] }), { message })
  t.same(await log(), [])
  await app.recruiting.emit({ ...nobody, subjects: ['job:7'] })
  await app.recruiting.emit({ ...nobody, subject: 'job:7' })
})

t.test('findSubject refuses a tenant and a subject that cannot be, and everything once the engine is closed', async (t) => {
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
