import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { notFound, refusal, timeOf } from '../../fixtures/api/webhook-api.js'

t.test('one delivery is shown as in the log, with what was sent and its attempts in the order they were made', async (t) => {
  const { call, clock, drain, emit, lastDelivery, log, receiver, retry, webhook } = await startDelivering(t)
  receiver.answer((response) => response.destroy(), { status: 503, body: 'inner text' }, 204)
  const ends: number[] = []
  await emit()
  await drain()
  ends.push(clock.now())
  for (let count = 0; count < 2; count++) {
    await retry()
    ends.push(clock.now())
  }
  const { attempts } = await lastDelivery()
  const { status, body } = await call('GET', `/webhooks/${webhook.id}/deliveries/1`)
  const [logged] = await log()
  t.equal(status, 200)
  t.strictSame(body, { data: { ...logged, body: receiver.requests[0]?.body, attempts } })
  const expected = [[null, 'connection'], [503, 'http_status'], [204, null]] as const
  t.strictSame(attempts, expected.map(([responseStatus, error], index) => {
    const durationMs = attempts[index]?.duration_ms ?? -1
    return {
      started_at: new Date((ends[index] ?? 0) - durationMs).toISOString(),
      duration_ms: durationMs,
      response_status: responseStatus,
      error,
      response_excerpt: null
    }
  }))
  for (const { duration_ms: durationMs } of attempts) t.ok(Number.isInteger(durationMs) && durationMs >= 0)
})

t.test('a delivery that was never attempted has no attempts', async (t) => {
  const { call, clock, emit, log, webhook } = await startDelivering(t, { delivery: { worker: false } })
  const { id } = await emit({ text: '"é\u2028' })
  const [logged] = await log()
  const sent = `{"id":"${id}","type":"application.created","timestamp":"${timeOf(clock)}","tenant_slug":"acme","data":{"text":"\\"é\u2028"}}`
  t.strictSame((await call('GET', `/webhooks/${webhook.id}/deliveries/1`)).body, { data: { ...logged, body: sent, attempts: [] } })
})

t.test('the body of an erased event is its tombstone', async (t) => {
  const { app: { recruiting }, clock, lastDelivery } = await startDelivering(t)
  const { id } = await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { name: 'Ada' }, subject: 'candidate:1' })
  t.match((await lastDelivery()).body, /Ada/)
  await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  t.equal((await lastDelivery()).body,
    `{"id":"${id}","type":"application.created","timestamp":"${timeOf(clock)}","tenant_slug":"acme","data":null,"erased":true}`)
})

t.test('the response body of the receiver is nowhere in the log unless the vendor keeps it', async (t) => {
  const { call, drain, emit, receiver, webhook } = await startDelivering(t)
  receiver.answer({ status: 500, headers: { 'x-hint': 'inner header' }, body: 'inner text' })
  await emit()
  await drain()
  const answers = [
    await call('GET', `/webhooks/${webhook.id}/deliveries`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/1`)
  ]
  for (const { headers, body } of answers) t.notMatch(JSON.stringify([headers, body]), /inner/)
})

t.test('a delivery is found only under its own webhook', async (t) => {
  const { call, callAsGlobex, create, emit, webhook } = await startDelivering(t)
  const other = await create({ event_types: ['job.created'] })
  await emit()
  t.equal((await call('GET', `/webhooks/${webhook.id}/deliveries/1`)).status, 200)
  const answers = [
    await call('GET', `/webhooks/${other.id}/deliveries/1`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/2`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/0`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/99999999999999999999`),
    await callAsGlobex('GET', `/webhooks/${webhook.id}/deliveries/1`)
  ]
  for (const answer of answers) {
    t.equal(answer.status, 404)
    t.strictSame(answer.body, notFound(answer))
  }
})

t.test('a delivery id that is not an integer is refused', async (t) => {
  const { call, webhook } = await startDelivering(t)
  for (const id of ['abc', '1.5', '1e1', '%201']) {
    const answer = await call('GET', `/webhooks/${webhook.id}/deliveries/${id}`)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { in: 'path', field: 'delivery_id', message: 'must be integer' }))
  }
})
