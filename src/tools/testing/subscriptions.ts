import type { NewSubscription, StoredSubscription } from '../../core/ports/index.js'
import { atOnce, eventIds, optionalCases, statuses } from './support/driver.js'
import { given, holds, same } from './support/expect.js'
import { createEvent, delivered, disableAtOnce, failed, firstRows, named, retry } from './support/samples.js'

const roomy = { perTenant: 10, perPrincipal: 10 }

const test = optionalCases('webhooks', 'subscriptions', (driver) => {
  const { subscriptions, feed } = driver.harness.storage
  if (subscriptions === undefined || feed === undefined) return null

  const put = async (changes: Partial<NewSubscription> = {}, limits = roomy, tenant = 'acme') =>
    subscriptions.put(tenant, {
      id: 'one',
      webhookId: changes.webhookId ?? await driver.webhooks.nextId(tenant),
      tenantSlug: tenant,
      principal: 'key_1',
      targetUrl: 'https://agent.example/callback',
      eventType: 'candidate.created',
      filters: null,
      secret: 'secret-1',
      gracePeriodSeconds: 0,
      ttlSeconds: 3600,
      position: await feed.end(tenant),
      isVerified: true,
      ...changes
    }, limits)

  return {
    ...driver,
    feed,
    subscriptions,
    put,
    /** Creates or refreshes a subscription of `acme`. */
    async add (changes?: Partial<NewSubscription>, tenant?: string): Promise<StoredSubscription> {
      const stored = await put(changes, roomy, tenant)
      if (typeof stored === 'string') throw new Error(`put returned ${stored}`)
      return stored
    },
    /** Fills until nothing is left. Returns the number of new deliveries. */
    async fill (window = 100, limit = 100): Promise<number> {
      let queued = 0
      for (let calls = 0, hasMore = true; hasMore && calls < 100; calls++) {
        const filled = await subscriptions.fill({ limit, window })
        queued += filled.queued
        hasMore = filled.hasMore
      }
      return queued
    },
    /** Returns the ids of events after a position. */
    async after (position: string, tenant = 'acme'): Promise<string[]> {
      const page = given(await feed.list(tenant, { after: position, limit: 100, eventTypes: null }), 'the page')
      return page.bodies.map((body) => String(JSON.parse(body).id))
    }
  }
})

/** Cases about agents' subscriptions. */
export const subscriptionCases = [
  test('put', 'a subscription is found, listed and counted in its tenant until it ends', async (t) => {
    const { subscription, secrets, ...stored } = await t.add({ filters: { 'data.job_id': [7] } })
    same([stored.tenantId, stored.tenantSlug, secrets, subscription.filters, subscription.last_delivered_at],
      ['acme', 'acme', ['secret-1'], { 'data.job_id': [7] }, null], 'the subscription')
    await t.add({ id: 'two', principal: 'key_2' })
    const query = { ...firstRows, filter: { principal: 'key_1' } }
    const read = async (tenant: string) => [
      (await t.subscriptions.list(tenant, query)).map(({ id }) => id), await t.subscriptions.count(tenant, {}),
      (await t.subscriptions.find(tenant, 'one'))?.subscription.id
    ]
    same([await read('acme'), await read('globex')], [[['one'], 2, 'one'], [[], 0, undefined]], 'what two tenants read')
    same((await t.subscriptions.end('globex', { id: 'one' }, 'disconnected')).length, 0, 'what another tenant ended')
    const ended = await t.subscriptions.end('acme', { principal: 'key_1' }, 'unsubscribed')
    same(ended.map(({ secrets }) => secrets), [['secret-1']], 'the secrets of those that ended')
    same([await read('acme'), await t.subscriptions.end('acme', { id: 'one' }, 'disconnected')],
      [[[], 1, undefined], []], 'what is left, and what a second call ends')
  }),

  test('put', 'a refresh keeps the position and changes the end and the secrets', async (t) => {
    const { subscription: { webhook_id: webhookId, expires_at: end } } = await t.add({ ttlSeconds: 60 })
    await t.emit()
    const refreshed = await t.add({ webhookId, secret: 'secret-2', gracePeriodSeconds: 60 })
    same(refreshed.secrets, ['secret-2', 'secret-1'], 'the secrets during the grace period')
    holds(refreshed.subscription.expires_at > end, 'the subscription ends later')
    same((await t.add({ webhookId, secret: null })).secrets, ['secret-2', 'secret-1'], 'the secrets of a later refresh')
    same((await t.add({ webhookId, secret: 'secret-3' })).secrets, ['secret-3'], 'the secrets without a grace period')
    same(await t.fill(), 1, 'the event between subscribing and the refresh')
    same([await t.put(), await t.put({ id: 'new', secret: null }), await t.put({ id: 'new', position: null })],
      ['replaced', 'replaced', 'replaced'],
      'the results with another webhookId, and without a secret or a position to begin with')
  }),

  test('put', 'limits count live subscriptions, also of concurrent calls', async (t) => {
    await t.add()
    const limits = { perTenant: 3, perPrincipal: 2 }
    const results = await atOnce(4, (index) => t.put({ id: `id${index}` }, limits))
    same(results.map((result) => typeof result === 'string' ? result : 'created').sort(),
      ['created', 'perPrincipal', 'perPrincipal', 'perPrincipal'], 'the results for one principal')
    const others = await atOnce(3, (index) => t.put({ id: `other${index}`, principal: `key_${index + 2}` }, limits))
    same(others.filter((result) => result === 'perTenant').length, 2, 'the calls that reached the limit of the tenant')
    const same1 = await atOnce(3, () => t.put({ id: 'same', principal: 'key_9' }))
    same(same1.filter((result) => result === 'replaced').length, 2, 'the calls that did not create the same id')
    await t.subscriptions.end('acme', { id: 'one' }, 'unsubscribed')
    holds(typeof await t.put({ id: 'again' }, { ...roomy, perPrincipal: 2 }) === 'object', 'ended ones do not count')
  }),

  test('isVerified', 'a confirmed address counts for its principal and a time', async (t) => {
    const url = 'https://agent.example/callback'
    const { subscription: { webhook_id: webhookId } } = await t.add({ isVerified: false })
    same(await t.subscriptions.isVerified('acme', 'key_1', url, 60), false, 'an address that nobody confirmed')
    await t.add({ webhookId })
    await t.add({ webhookId, isVerified: false })
    const ask = (tenant: string, principal: string, address: string, seconds = 60) =>
      t.subscriptions.isVerified(tenant, principal, address, seconds)
    same(await Promise.all([
      ask('acme', 'key_1', url), ask('acme', 'key_2', url), ask('globex', 'key_1', url),
      ask('acme', 'key_1', `${url}2`), ask('acme', 'key_1', url, 0)
    ]), [true, false, false, false, false], 'whether it is confirmed')
  }),

  test('fill', 'each matching event is queued once, in order, and emits ignore subscriptions', async (t) => {
    await t.emit()
    await t.add({ filters: { 'data.job_id': [7] } })
    const body = (id: number, job: number): string => JSON.stringify({ id: `evt_${id}`, data: { job_id: job } })
    const counts = [
      await t.emit({ body: body(2, 7) }), await t.emit({ body: body(3, 8) }),
      await t.emit({ body: body(4, 7), type: 'job.created' }), await t.emit({ body: body(5, 7) }),
      await t.emit({ body: body(6, 7), subject: 'candidate:1', tombstone: '{}' }),
      await t.emit({ body: body(7, 7), tenantSlug: 'globex' })
    ].map(({ deliveries }) => deliveries)
    same(counts, [0, 0, 0, 0, 0, 0], 'the deliveries of emits')
    await t.erase('candidate:1')
    const filled = await atOnce(3, () => t.subscriptions.fill({ limit: 100, window: 100 }))
    same(filled.reduce((sum, { queued }) => sum + queued, 0) + await t.fill(), 2, 'the deliveries of concurrent calls')
    const claimed = await t.claim()
    same(eventIds(claimed), ['evt_2', 'evt_5'], 'the claimed events')
    same([claimed[0]?.subscription?.id, claimed[0]?.secrets], ['one', ['secret-1']], 'the claimed subscription')
  }),

  test('fill', 'a window limits pending deliveries, and tenants take turns', async (t) => {
    await t.add()
    await t.add({ id: 'two' })
    await t.add({}, 'globex')
    for (let count = 0; count < 5; count++) {
      await t.emit()
      await t.emit({ tenantSlug: 'globex' })
    }
    const first = await t.subscriptions.fill({ limit: 4, window: 2 })
    same([first.queued, first.hasMore], [4, true], 'the first call')
    const claimed = await t.claim()
    same(claimed.map(({ tenantId }) => tenantId).sort(), ['acme', 'acme', 'globex', 'globex'],
      'the tenants that it served')
    same(await t.fill(2), 2, 'the deliveries of the next calls: the others have no free places')
    await t.recordAttempts(claimed.map(delivered))
    same(await t.fill(), 9, 'the deliveries once places are free')
  }),

  test('fill', 'the watermark is before every pending event and after the others', async (t) => {
    const { position } = await t.add()
    await t.emitMany(3)
    await t.fill()
    const leases = await t.claim()
    same([await t.after(position), await t.after(String(leases[2]?.subscription?.position))],
      [['evt_1', 'evt_2', 'evt_3'], ['evt_1', 'evt_2', 'evt_3']], 'the events after the watermark of a claim')
    const watermark = async () => t.after(given(await t.subscriptions.find('acme', 'one'), 'one').position)
    await t.recordAttempts([leases[0], leases[2]].map((lease) => delivered(given(lease, 'a lease'))))
    same(await watermark(), ['evt_2', 'evt_3'], 'the events after it while the second is pending')
    await t.recordAttempts([failed(given(leases[1], 'a lease'))])
    await t.emit()
    same(await watermark(), ['evt_4'], 'the events after it once the others have ended')
  }),

  test('fill', 'events that commit late are not skipped', async (t) => {
    await t.add()
    const late = await t.harness.begin?.()
    if (late === undefined) return
    await t.deliveries.record('acme', createEvent('evt_9'), late.transaction)
    await t.emit()
    await t.fill()
    await late.commit()
    await t.fill()
    same(eventIds(await t.claim()).sort(), ['evt_1', 'evt_9'], 'the claimed events')
  }),

  test('fill', 'pruned events are reported as a gap', async (t) => {
    await t.add()
    await t.emitMany(2)
    await t.wait(20)
    await t.deliveries.prune({ retentionDays: 0, limit: 10 })
    await t.emit()
    const { gaps, queued } = await t.subscriptions.fill({ limit: 10, window: 10 })
    same([gaps.map(({ subscription }) => subscription.id), queued], [['one'], 1], 'the gap, and the new deliveries')
    same((await t.subscriptions.fill({ limit: 10, window: 10 })).gaps, [], 'the gaps of the next call')
  }),

  test('end', 'nothing is claimed or queued after the end or after the time to live', async (t) => {
    const { subscription } = await t.add()
    await t.add({ id: 'short', ttlSeconds: 1 })
    await t.emit()
    await t.fill()
    await t.subscriptions.end('acme', { id: 'one' }, 'disconnected')
    await t.wait(1020)
    same([await t.claim(), await t.subscriptions.count('acme', {})], [[], 0], 'the claimed, and the live ones')
    const { ended } = await t.subscriptions.fill({ limit: 10, window: 10 })
    same(ended.map(({ subscription: { id }, reason, secrets }) => [id, reason, secrets]),
      [['short', 'expired', ['secret-1']]], 'those that the next call ends')
    await t.emit()
    same([await t.fill(), await t.claim()], [0, []], 'the deliveries after that')
    const [event] = await t.deliveries.listSubjectEvents('acme', 'candidate:42', { after: 0, limit: 1 })
    same([event, await t.deliveries.list('acme', subscription.webhook_id, firstRows)], [undefined, []], 'what is left')
    const { position } = await t.add()
    same([await t.after(position), await t.fill()], [[], 0], 'the events of a new subscription with the same id')
  }),

  test('put', 'a subscription is never disabled, and a refresh ends its pause', async (t) => {
    const { subscription: { webhook_id: webhookId } } = await t.add()
    await t.emitMany(3)
    await t.fill()
    const [one, two, three] = await t.claim()
    await t.recordAttempts([failed(given(one, 'a lease'), { isGone: true })], disableAtOnce)
    const rest = [given(two, 'a lease'), given(three, 'a lease')]
    const notices = await t.recordAttempts(rest.map((lease) => retry(lease, { pauseMs: 600_000 })), disableAtOnce)
    same(notices, [], 'the notices')
    const { subscription } = given(await t.subscriptions.find('acme', 'one'), 'the subscription')
    same([subscription.last_error, subscription.last_response_status, subscription.paused_until !== null],
      ['http_status', 503, true], 'its health')
    same(await t.claim(), [], 'the claimed deliveries during the pause')
    await t.add({ webhookId })
    same([eventIds(await t.claim()), statuses(await t.log({ id: webhookId }))],
      [['evt_2', 'evt_3'], ['failed', 'pending', 'pending']], 'the claimed deliveries after the refresh, and the log')
  }),

  test('put', 'the methods of webhooks ignore subscriptions', async (t) => {
    const { subscription: { webhook_id: id } } = await t.add()
    await t.emit()
    await t.fill()
    const changes = { status: 'inactive' } as const
    same([
      await t.webhooks.find('acme', id), await t.webhooks.list('acme', firstRows), await t.webhooks.count('acme', {}),
      await t.webhooks.update('acme', id, changes), await t.webhooks.delete('acme', id),
      await t.webhooks.findSecrets('acme', id), await t.replay({ id }, { include: 'all' }),
      await t.webhooks.listFailing({ limit: 10, maxPending: 10 })
    ], [null, [], 0, null, false, null, null, []], 'the answers about its id')
    same((await t.webhooks.listSecrets({ afterId: 0, limit: 10 })).map(({ webhookId }) => webhookId), [id],
      'the secrets to encrypt')
    same(await t.webhooks.replaceSecret('acme', id, { from: 'secret-1', to: 'sealed' }), true, 'the replaced secret')
    same((await t.claimOne()).secrets, ['sealed'], 'the secrets of a claim')
  }),

  test('webhooks.renameTenant', 'a subscription follows its tenant and ends with it', async (t) => {
    await t.add()
    await t.emit()
    same(await t.rename({ reseal: (secret) => `${secret}!` }), 0, 'the number of renamed webhooks')
    same([await t.fill(), (await t.claim()).map(({ tenantId, secrets }) => [tenantId, secrets])],
      [1, [['globex', ['secret-1!']]]], 'the event from before')
    await t.emit({ tenantSlug: 'globex' })
    await t.fill()
    await t.webhooks.removeTenant(named('globex').id, { limit: 100 })
    same([await t.subscriptions.count('globex', {}), await t.claim()], [0, []], 'what is left of a removed tenant')
  }),

  test('webhooks.suspendTenant', "a suspended tenant's subscriptions end once it is resumed", async (t) => {
    await t.add({ ttlSeconds: 1 })
    await t.webhooks.suspendTenant('acme')
    await t.wait(1020)
    const end = async () => (await t.subscriptions.fill({ limit: 10, window: 10 })).ended.map(({ reason }) => reason)
    const suspended = [await end(), await t.subscriptions.count('acme', {})]
    await t.webhooks.resumeTenant('acme', { pending: 'deliver' })
    same([suspended, await end()], [[[], 0], ['expired']], 'the ends before and after the suspension')
  }),

  test('stats', 'the figures count live subscriptions and unread events', async (t) => {
    const before = await t.subscriptions.stats()
    await t.add()
    await t.emit()
    await t.wait(20)
    const unread = await t.subscriptions.stats()
    await t.fill()
    const read = await t.subscriptions.stats()
    const figures = { live: 1, failing: 0, lagMs: 0 }
    same([before, unread.live, unread.lagMs > 0, read], [{ ...figures, live: 0 }, 1, true, figures],
      'the figures before, with an unread event and after')
    await t.recordAttempts([failed(await t.claimOne())])
    same(await t.subscriptions.stats(), { ...figures, failing: 1 }, 'the figures after a failed attempt')
  }),

  test('fill', 'a subscription ends once its type is not in the catalogue', async (t) => {
    await t.add()
    await t.add({ id: 'two', eventType: 'job.created' })
    await t.emit()
    const { queued, ended } = await t.subscriptions.fill({ limit: 0, window: 10, eventTypes: ['job.created'] })
    same([queued, ended.map(({ subscription: { id }, reason, secrets }) => [id, reason, secrets])],
      [0, [['one', 'removed', ['secret-1']]]], 'the new deliveries, and those that ended')
    same(await t.subscriptions.count('acme', {}), 1, 'the live ones')
  }),

  test('fill', 'a storage of another environment queues nothing, and discarding ends subscriptions', async (t) => {
    const { holds: held } = t.harness.storage
    if (held === undefined) return
    await t.add()
    await t.claim({ environment: 'production' })
    await t.emit()
    const options = { limit: 10, window: 10, environment: 'test' }
    same(await t.subscriptions.fill(options), { queued: 0, hasMore: false, gaps: [], ended: [] }, 'the result')
    await held.adopt({ environment: 'test', pending: 'discard', keepWebhooks: true })
    same(await t.subscriptions.count('acme', {}), 0, 'the live subscriptions')
  })
]
