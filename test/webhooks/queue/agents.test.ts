import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { feedSubject } from '../../../src/core/shared/feed.js'
import { createTokens } from '../../../src/core/shared/tokens.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { type ReceivedRequest, startReceiver } from '../../fixtures/receivers/receiver.js'

const secret = `whsec_${randomBytes(32).toString('base64')}`

/** A worker, and an agent that subscribes to hires of job 7. */
async function startAgent (t: Test, ttlSeconds = 3600) {
  const machines = createMachines(t)
  const { storage, start } = machines
  const receiver = await startReceiver(t)
  const engine = start({ maxEventBytes: 1_000_000 })
  const webhookId = await storage.webhooks.nextId('acme')
  const filters = { 'data.job_id': [7] }
  await storage.subscriptions.put('acme', {
    id: 'agent-1',
    webhookId,
    tenantSlug: 'acme',
    principal: 'key_1',
    targetUrl: receiver.url,
    eventType: event.type,
    filters,
    secret,
    gracePeriodSeconds: 0,
    ttlSeconds,
    position: await storage.feed.end('acme'),
    isVerified: true
  }, { perTenant: 10, perPrincipal: 10 })

  return {
    ...machines,
    engine,
    receiver,
    webhookId,
    /** Emits an event of the job, and waits until it is delivered or waits for its next attempt. */
    async emit (data: object = {}): Promise<string> {
      const { id } = await engine.emit({ ...event, data: { job_id: 7, ...data } })
      await engine.drain()
      return id
    },
    /** Returns the ids of the events after a cursor. */
    async read (cursor: string): Promise<string[]> {
      const [after = ''] = await createTokens(storage.feed).read(feedSubject('acme', [event.type], filters), cursor) ?? []
      const page = await storage.feed.list('acme', { after, limit: 10, eventTypes: [event.type], filters })
      return page?.bodies.map((body) => JSON.parse(body).id) ?? []
    }
  }
}

const parse = ({ body }: ReceivedRequest) => JSON.parse(body)

t.test('a callback gets signed events that match, each with a cursor to continue from', async (t) => {
  const { engine, emit, receiver, read, storage } = await startAgent(t)
  await emit({ job_id: 8 })
  const id = await emit({ stage: 'hired' })
  const next = await emit()
  const [first, second] = receiver.requests
  t.equal(receiver.requests.length, 2)
  if (first === undefined || second === undefined) return
  t.match(new Webhook(secret).verify(first.body, first.headers as Record<string, string>), {
    eventId: id, name: 'application.created', data: { job_id: 7, stage: 'hired' }, cursor: String
  })
  t.strictSame(Object.keys(parse(first)), ['eventId', 'name', 'timestamp', 'data', 'cursor'])
  t.match(first.headers, { 'webhook-id': id, 'x-mcp-subscription-id': 'agent-1', 'content-type': 'application/json' })
  t.strictSame(await read(parse(second).cursor), [next], 'the first event is acknowledged, the second is not yet')
  t.strictSame(await engine.webhooks.list('acme'), { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
  t.equal(await storage.subscriptions.count('acme', {}), 1)
})

t.test('410 and 413 end one delivery, other failures are tried four times', async (t) => {
  const { emit, receiver, deliveries, webhookId, clock, engine } = await startAgent(t)
  receiver.answer(410, 413, 500)
  for (let count = 0; count < 3; count++) await emit()
  for (const seconds of [36, 144, 720]) {
    await clock.skip(seconds * 1000)
    await engine.drain()
  }
  receiver.answer(204)
  await emit()
  t.strictSame(await deliveries(webhookId), [['failed', 1], ['failed', 1], ['failed', 4], ['delivered', 1]])
})

t.test('a busy callback pauses for its Retry-After, and a refresh ends the pause', async (t) => {
  const { emit, receiver, storage, webhookId, engine, deliveries } = await startAgent(t)
  receiver.answer({ status: 503, headers: { 'retry-after': '600' } }, 204)
  await emit()
  await emit()
  t.equal(receiver.requests.length, 1)
  const found = await storage.subscriptions.find('acme', 'agent-1')
  t.type(found?.subscription.paused_until, 'string')
  if (found === null) return
  const { subscription: { principal, target_url: targetUrl, event_type: eventType, filters }, position } = found
  await storage.subscriptions.put('acme', {
    id: 'agent-1',
    webhookId,
    tenantSlug: 'acme',
    principal,
    targetUrl,
    eventType,
    filters,
    secret: null,
    ttlSeconds: 60,
    gracePeriodSeconds: 0,
    position,
    isVerified: false
  }, { perTenant: 10, perPrincipal: 10 })
  await engine.drain()
  t.strictSame(await deliveries(webhookId), [['delivered', 2], ['delivered', 1]])
})

t.test('events larger than 256 KiB are given up without an attempt', async (t) => {
  const { emit, receiver, deliveries, webhookId } = await startAgent(t)
  await emit({ text: 'x'.repeat(261_800) })
  await emit({ text: 'x'.repeat(262_200) })
  t.equal(receiver.requests.length, 1)
  t.strictSame(await deliveries(webhookId), [['delivered', 1], ['failed', 1]])
})

t.test('a callback gets a notice of lost events and of the end of its subscription', async (t) => {
  const { emit, engine, receiver, clock, read, storage } = await startAgent(t, 86_400)
  const { fill } = storage.subscriptions
  storage.subscriptions.fill = async () => ({ queued: 0, hasMore: false, gaps: [], ended: [] })
  await emit()
  await clock.skip(3_600_000)
  await storage.deliveries.prune({ retentionDays: 0, limit: 10 })
  storage.subscriptions.fill = fill
  const id = await emit()
  const [gap, after] = (await receiver.received(2)).toSorted((one) => parse(one).type === 'gap' ? -1 : 1).map(parse)
  t.strictSame([gap.type, await read(gap.cursor), after.eventId], ['gap', [id], id])

  await clock.skip(86_400_000)
  await engine.drain()
  const last = (await receiver.received(3)).at(-1)
  if (last === undefined) return
  t.match(parse(last), { type: 'terminated', error: { message: 'NotFound', data: { reason: 'expired' } } })
  t.match(last.headers, { 'webhook-id': /^msg_terminated_/, 'webhook-signature': /^v1,/ })
  await emit()
  t.equal(receiver.requests.length, 3)
})
