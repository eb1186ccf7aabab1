import type { AttemptResult, ClaimedDelivery } from '../../../core/ports/index.js'
import {
  benchCases, casesWith, eventIds, optionalCases, progress, type StorageDriver, webhookCases
} from '../support/driver.js'
import { exactly, holds, rejects, same } from '../support/expect.js'
import { type Attempted, delivered, failed, lenient, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')
const unevenTest = casesWith(addThree, 'deliveries')
const fairTest = casesWith(addSix, 'deliveries')

// Adds three webhooks of these tenants with 30, 3 and 1 due deliveries, recorded in this order.
async function addThree (
  { addWebhook, emitMany }: StorageDriver, tenants = ['acme', 'globex', 'initech']
): Promise<number[]> {
  const ids: number[] = []
  for (const [index, count] of [30, 3, 1].entries()) {
    const [tenantSlug = 'acme', type = ''] = [tenants[index], ['job.created', 'job.updated', 'job.closed'][index]]
    ids.push((await addWebhook({ tenantSlug, event_types: [type] })).id)
    await emitMany(count, { tenantSlug, type })
  }
  return ids
}

// Adds five webhooks of `acme` with 4 due deliveries each, then one of `globex` with 20.
async function addSix ({ addWebhook, emitMany }: StorageDriver): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < 5; i++) ids.push((await addWebhook()).id)
  await emitMany(4)
  ids.push((await addWebhook({ tenantSlug: 'globex' })).id)
  await emitMany(20, { tenantSlug: 'globex' })
  return ids
}

function tally (claimed: readonly ClaimedDelivery[], ids: readonly number[]): number[] {
  return ids.map((id) => claimed.filter(({ webhookId }) => webhookId === id).length)
}

async function takeTurns (t: StorageDriver, ids: readonly number[]): Promise<void> {
  same(tally(await t.claim({ limit: 3 }), ids), [1, 1, 1], 'a claim of 3 where 30, 3 and 1 are due')
  same(tally(await t.claim({ limit: 4 }), ids), [2, 2, 0], 'a claim of 4 where 29, 2 and 0 are due')
  same(tally(await t.claim(), ids), [27, 0, 0], 'a claim of the rest')
}

const recordTest = casesWith(async (t) => {
  await t.addWebhook()
  await t.addWebhook({ tenantSlug: 'globex' })
  await t.emitMany(3)
  await t.emitMany(3, { tenantSlug: 'globex' })
  return t.claimAll(2, { limit: 2, perEndpoint: 1 })
}, 'deliveries')

// Only a database can be copied, so the cases are about environments.
const holdCase = optionalCases('deliveries', 'holds', (driver) => {
  const { holds } = driver.harness.storage
  return holds === undefined ? null : { ...driver, holds }
})

export const claimCases = [
  // About the claimed deliveries and their order.
  emptyTest('claimDue', 'a claim contains everything needed to attempt a delivery', async (t) => {
    const { id } = await t.addWebhook({ secret: 'sesame' })
    await t.emit({ body: '{"a":1}' })
    await t.webhooks.update('acme', id, { target_url: 'https://hooks.example/moved' })
    const { claimedAt = 0, ...lease } = await t.claimOne()
    const claimed = {
      deliveryId: lease.deliveryId,
      fence: lease.fence,
      tenantId: 'acme',
      tenantSlug: 'acme',
      webhookId: id,
      targetUrl: 'https://hooks.example/moved',
      secrets: ['sesame'],
      headers: null,
      eventId: 'evt_1',
      eventType: 'candidate.created',
      body: '{"a":1}',
      traceParent: null,
      attemptCount: 0,
      isFailing: false
    }
    same(lease, claimed, 'the claim of a first attempt')
    same([typeof lease.deliveryId, typeof lease.fence], ['number', 'number'], 'the types of the id and the fence')
    await t.recordAttempts([retry(lease, { retryInMs: 10 })])
    await t.wait(10)
    const { claimedAt: nextAt = claimedAt, ...next } = await t.claimOne()
    same(Number.isSafeInteger(claimedAt) && nextAt >= claimedAt, true, 'times of claims ascend')
    same(next, { ...claimed, fence: next.fence, attemptCount: 1, isFailing: true }, 'the claim of the second attempt')
  }),

  emptyTest('claimDue', 'leased deliveries of other webhooks do not make claims smaller', async (t) => {
    for (let i = 0; i < 4; i++) await t.addWebhook({ event_types: ['job.created'] })
    await t.emit({ type: 'job.created' })
    await t.claimAll(4)
    for (let i = 0; i < 2; i++) await t.addWebhook({ event_types: ['job.closed'] })
    // Each claim may start with another webhook.
    for (let i = 0; i < 6; i++) {
      await t.emit({ type: 'job.closed' })
      await t.claimAll(2)
    }
  }),

  test('recordAttempts', 'a retry is claimed when it is due, not before', async (t) => {
    const [soon, late] = await t.lease(2)
    await t.recordAttempts([retry(soon, { retryInMs: 99.5 }), retry(late, { retryInMs: 3_600_000 })])
    await t.wait(100)
    same(eventIds(await t.claim()), ['evt_1'], 'the claimed deliveries when one of two is due')
    same(eventIds(await t.claim()), [], 'the deliveries claimed after it')
  }),

  test('claimDue', 'an ended delivery is never claimed again', async (t) => {
    const [one, other] = await t.lease(2, { leaseMs: 100 })
    await t.recordAttempts([delivered(one), failed(other)])
    await t.wait(100)
    same(await t.claim(), [], 'the claimed deliveries when the leases would have expired')
  }),

  test('claimDue', 'first attempts come before retries, and both before replays and their retries', async (t, webhook) => {
    await t.attempt(delivered)
    await t.attempt(delivered)
    await t.replay(webhook, { include: 'all' })
    await t.recordAttempts([retry(await t.claimOne(), { retryInMs: 10 })])
    await t.attempt((lease) => retry(lease, { retryInMs: 10 }))
    await t.wait(10)
    await t.emit()
    same(eventIds(await t.claim()), ['evt_4', 'evt_3', 'evt_1', 'evt_2'],
      'a first attempt, a retry, a retry of a replay, a replay')
  }),

  test('claimDue', 'retries are claimed in the order their deliveries were recorded', async (t) => {
    const [first, second, third, fourth] = await t.lease(4)
    const due = (lease: Attempted, retryInMs: number): AttemptResult => retry(lease, { retryInMs })
    await t.recordAttempts([due(first, 60), due(second, 20), due(third, 40), due(fourth, 20)])
    await t.wait(60)
    same(eventIds(await t.claim()), ['evt_1', 'evt_2', 'evt_3', 'evt_4'], 'retries due after 60, 20, 40 and 20 ms')
  }),

  test('claimDue', 'first attempts are claimed in the order their events were recorded', async (t) => {
    await t.emitMany(3)
    await t.wait(5)
    const one = await t.leaseOne()
    same([one.eventId, ...eventIds(await t.claim())], ['evt_1', 'evt_2', 'evt_3', 'evt_4'],
      'the deliveries of a claim of one, and of the rest')
  }),

  // About the share of each tenant and webhook in a claim.
  unevenTest('claimDue', 'tenants take turns within a claim', takeTurns),

  emptyTest('claimDue', 'the webhooks of a tenant take turns within a claim', async (t) =>
    takeTurns(t, await addThree(t, ['acme', 'acme', 'acme']))),

  fairTest('claimDue', 'a tenant with five webhooks gets no more of a claim than a tenant with one', async (t, ids) => {
    const shares = tally(await t.claim({ limit: 6 }), ids)
    same([...shares].sort(), [0, 0, 1, 1, 1, 3],
      'the shares of five webhooks of one tenant and one of another in a claim of 6')
    same(shares[5], 3, 'the share of the tenant with one webhook')
    const rest = tally(await t.claim({ limit: 34 }), ids)
    same([rest.slice(0, 5).reduce((sum, share) => sum + share), rest[5]], [17, 17],
      'the shares of both tenants in a claim of 34')
  }),

  fairTest('claimDue', 'tenants and their webhooks also take turns in claims of one', async (t, ids) => {
    const claimed: ClaimedDelivery[] = []
    for (let i = 0; i < 10; i++) claimed.push(await t.claimOne())
    same(tally(claimed, ids), [1, 1, 1, 1, 1, 5],
      'the shares of five webhooks of one tenant and one of another in ten claims of one')
  }),

  unevenTest('claimDue',
    'a webhook with many due deliveries does not delay a later event of another webhook', async (t, ids) => {
      await t.claim({ limit: 15 })
      await t.emitMany(1, { tenantSlug: 'initech', type: 'job.closed' })
      same(tally(await t.claim({ limit: 3 }), ids)[2], 1, 'the share of the third webhook in the next claim of 3')
    }),

  unevenTest('claimDue', 'a paused webhook takes no turns from others', async (t, ids) => {
    const flood = (await t.claim({ limit: 3 })).find(({ webhookId }) => webhookId === ids[0])
    holds(flood !== undefined, 'the flooding webhook has one of the first three deliveries')
    await t.recordAttempts([retry(flood, { pauseMs: 600_000 })])
    same(tally(await t.claim({ limit: 5 }), ids), [0, 2, 0], 'a claim of 5 while the flooding webhook is paused')
  }),

  unevenTest('claimDue', 'perEndpoint limits the leases of a webhook across all claims', async (t, ids) => {
    const first = await t.claim({ perEndpoint: 2 })
    same(tally(first, ids), [2, 2, 1], 'a claim with perEndpoint 2')
    same(tally(await t.claim({ perEndpoint: 2 }), ids), [0, 0, 0], 'the next claim')
    same(tally(await t.claim({ perEndpoint: 3 }), ids), [1, 1, 0], 'a claim with perEndpoint 3')
    await t.recordAttempts(first.filter(({ webhookId }) => webhookId === ids[0]).map(delivered))
    same(tally(await t.claim({ perEndpoint: 3 }), ids), [2, 0, 0],
      'a claim after two of the first webhook were completed')
  }),

  test('claimDue', 'expired and released leases no longer count towards perEndpoint', async (t) => {
    await t.emitMany(6)
    same((await t.claim({ perEndpoint: 2, leaseMs: 50 })).length, 2, 'a claim with perEndpoint 2')
    await t.wait(50)
    const second = await t.claim({ perEndpoint: 2 })
    same(second.length, 2, 'the next claim, after the leases of the first have expired')
    await t.deliveries.release(second.slice(0, 1))
    same((await t.claim({ perEndpoint: 2 })).length, 1, 'another claim, after one of two leases was released')
  }),

  test('claimDue', 'attempts of a webhook that was inactive count towards perEndpoint', async (t, { id }) => {
    await t.emitMany(3)
    const [first, ...stopped] = exactly(await t.claim({ perEndpoint: 3 }), 3, 'claims')
    await t.skipPending(id)
    await t.emitMany(4)
    same(await t.claim({ perEndpoint: 3 }), [], 'a claim while three skipped deliveries are still leased')
    const ahead = await t.claim({ perEndpoint: 3, aheadPerEndpoint: 5, leases: [first, ...stopped] })
    same(ahead.length, 2, 'a claim ahead by their worker')
    await t.deliveries.release([first, ...ahead])
    same((await t.claim({ perEndpoint: 3 })).length, 1, 'a claim after all but two were released')
    await t.recordAttempts(stopped.map((lease) => retry(lease)))
    same((await t.claim({ perEndpoint: 3 })).length, 2, 'a claim after these have ended')
  }),

  test('claimDue', 'a delivery erased during its attempt counts towards perEndpoint until its lease expires',
    async (t) => {
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emitMany(3)
      await t.claimAll(1, { limit: 1, leaseMs: 50 })
      await t.claimAll(1, { perEndpoint: 2 })
      await t.erase('candidate:1')
      same(await t.claim({ perEndpoint: 2 }), [], 'a claim while one delivery and the erased one are leased')
      await t.wait(50)
      same(eventIds(await t.claim({ perEndpoint: 2 })), ['evt_3'], 'a claim after the lease of the erased one')
    }),

  // About claims for several places and tenants, and by several callers.
  unevenTest('claimDue', 'a tenant gets a lease only while more places are free than it holds', async (t, ids) => {
    const claimWith = (free: number, heldBy: Array<[tenant: string, held: number]> = []): Promise<ClaimedDelivery[]> =>
      t.claim({ limit: free, perEndpoint: 100, places: { free, heldBy: new Map(heldBy) } })
    same(tally(await claimWith(10, [['acme', 10]]), ids), [0, 3, 1],
      'a claim of 10 places where 30, 3 and 1 are due, and the first tenant holds as many')
    await t.emitMany(5, { tenantSlug: 'globex', type: 'job.updated' })
    same(tally(await claimWith(8), ids), [3, 3, 0], 'a claim of 8 places where 30, 5 and 0 are due')
    same(tally(await claimWith(10, [['globex', 3]]), ids), [4, 2, 0], 'a claim of 10 where the second one holds 3')
    same(tally(await claimWith(1), ids).reduce((sum, share) => sum + share), 1, 'a claim of one place')
  }),

  emptyTest('claimDue', "a tenant's webhooks take turns if the tenant has one place", async (t) => {
    const ids = await addThree(t, ['acme', 'acme', 'acme'])
    const claimed: ClaimedDelivery[] = []
    for (let i = 0; i < 6; i++) {
      claimed.push(...await t.claimAll(1, { limit: 9, places: { free: 5, heldBy: new Map([['acme', 4]]) } }))
    }
    const [, busy = 0, quiet] = tally(claimed, ids)
    same([busy >= 2, quiet], [true, 1], 'whether 30, 3 and 1 due deliveries of three webhooks have turns')
  }),

  test('claimDue', 'a caller leases ahead only while no other has a lease of the webhook', async (t) => {
    await t.emitMany(20)
    const ahead = { limit: 100, perEndpoint: 2, aheadPerEndpoint: 5 }
    const mine = await t.claimAll(5, ahead)
    same((await t.claim({ ...ahead, leases: mine.slice(0, 1) })).length, 0, 'the leases of another caller')
    await t.recordAttempts(mine.slice(0, 4).map(delivered))
    const theirs = await t.claimAll(1, ahead)
    same((await t.claim({ ...ahead, leases: mine })).length, 0, 'the leases of the first caller, while both have one')
    await t.recordAttempts(theirs.map(delivered))
    same((await t.claim({ ...ahead, leases: mine })).length, 4, 'its leases when the other has none')
  }),

  test('claimDue', 'after a pause one delivery is leased until the next success', async (t) => {
    await t.emitMany(6)
    await t.recordAttempts((await t.claimAll(2, { limit: 2 })).map((lease) => retry(lease, { pauseMs: 20 })))
    await t.wait(20)
    const [probe] = await t.claimAll(1, { limit: 100, aheadPerEndpoint: 10 })
    same(await t.claim(), [], 'the next claim')
    await t.recordAttempts([retry(probe)])
    const [second] = await t.claimAll(1, { limit: 100 })
    await t.recordAttempts([delivered(second)])
    same((await t.claim()).length, 2, 'a claim after the success')
  }),

  // About `recordAndClaim`.
  recordTest('recordAndClaim', 'recorded successes make room for the claim', async (t, leases) => {
    const { later, claimed } = await t.recordAndClaim(leases.map(delivered), { perEndpoint: 1 })
    same([later, eventIds(claimed).sort()], [[], ['evt_2', 'evt_5']], 'the leases left and the claimed deliveries')
    same((await t.deliveries.stats()).pending, 4, 'the number of pending deliveries')
  }),

  recordTest('recordAndClaim', 'recorded failures make room too, and pauses apply to the claim', async (t, leases) => {
    const [paused, other] = exactly(leases, 2, 'leases')
    const { claimed } = await t.recordAndClaim([retry(paused, { pauseMs: 600_000 }), failed(other)], { perEndpoint: 1 })
    same(claimed.map(({ webhookId }) => webhookId), [other.webhookId], 'the webhooks of the claimed deliveries')
    same((await t.deliveries.stats()).pending, 5, 'the number of pending deliveries')
  }),

  recordTest('recordAndClaim', 'without results it only claims, and lost leases are ignored', async (t, leases) => {
    same((await t.recordAndClaim([], { limit: 1 })).claimed.length, 1, 'the number of claimed deliveries')
    await t.deliveries.release(leases)
    same((await t.recordAndClaim(leases.map(delivered), { limit: 1 })).claimed.length, 1, 'the same with lost leases')
    same((await t.deliveries.stats()).pending, 6, 'the number of pending deliveries')
  }),

  // About storages that hold notifications.
  holdCase('deliveries.claimDue', 'only workers of the first environment, or of none, can claim', async (t) => {
    await t.addWebhook()
    await t.emitMany(2)
    await t.claimAll(1, { environment: 'production' })
    await rejects(t.claim({ environment: 'staging' }), 'claiming in another environment')
    same(eventIds(await t.claim()), ['evt_2'], 'the events claimed without an environment')
    await t.emit()
    await t.claimAll(1, { environment: 'production' })
  }),

  holdCase('deliveries.claimNotices', 'another environment gets no notices', async (t) => {
    await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.emit()
    await t.deliveries.recordAttempts([failed(await t.claimOne())], { ...lenient, warnAfterSeconds: 0 })
    same(await t.claimNotices({ environment: 'staging' }), [], 'the notices for staging')
    same((await t.claimNotices({ environment: 'production' })).length, 1, 'the number of notices for production')
  }),

  holdCase('find', 'another environment is held from the time it is first seen', async (t) => {
    same(await t.holds.find('staging'), null, 'the hold before any claim')
    await t.claim({ environment: 'production' })
    same([await t.holds.find('production'), await t.holds.find(null)], [null, null],
      'the holds of production and of no environment')
    const hold = await t.holds.find('staging')
    same(hold?.reason, 'environment', 'the reason of the hold')
    await t.wait(20)
    same(await t.holds.find('staging'), hold, 'the hold, read again')
  }),

  holdCase('adopt', 'an adopted storage belongs to the new environment', async (t) => {
    await t.addWebhook()
    await t.emit()
    await t.claim({ environment: 'production', limit: 1, leaseMs: 10 })
    same(await t.holds.adopt({ environment: 'staging', pending: 'deliver' }), { reason: 'environment', pending: 1 },
      'the adoption')
    same((await t.holds.find('production'))?.reason, 'environment', 'the hold of production')
    await t.wait(20)
    same(eventIds(await t.claim({ environment: 'staging' })), ['evt_1'], 'the events claimed by staging')
  }),

  holdCase('adopt', 'adopting with discard skips every pending delivery', async (t) => {
    const webhook = await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.emitMany(2)
    await t.deliveries.recordAttempts([failed(await t.claimOne())], { ...lenient, warnAfterSeconds: 0 })
    const kept = { environment: 'staging', pending: 'discard', keepWebhooks: true, keepKeys: true } as const
    same(await t.holds.adopt(kept), { reason: 'environment', pending: 1 }, 'the adoption')
    same(await t.claim({ environment: 'staging' }), [], 'the deliveries claimed')
    same(progress(await t.log(webhook)), [['failed', 1], ['skipped', 0]], 'the log')
    same(await t.claimNotices(), [], 'the notices')
    await t.emit()
    same(eventIds(await t.claim({ environment: 'staging' })), ['evt_3'], 'the events claimed later')
  }),

  holdCase('adopt', 'adopting with discard deactivates the webhooks of all tenants', async (t) => {
    const webhook = await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.holds.adopt({ environment: 'staging', pending: 'discard' })
    await t.emit()
    same(progress(await t.log(webhook)), [['skipped', 0]], 'the log')
  }),

  holdCase('adopt', 'adopting changes nothing if nothing is held', async (t) => {
    const webhook = await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.emit()
    for (const environment of ['production', null]) {
      same(await t.holds.adopt({ environment, pending: 'discard' }), null, 'the adoption')
    }
    same(progress(await t.log(webhook)), [['pending', 0]], 'the log')
    same((await t.holds.find('staging'))?.reason, 'environment', 'the hold of staging')
  })
]
