import type {
  AnswerToStore, IdempotencyState, IdempotencyStore, IdempotentRequest, Webhook
} from '../../core/ports/index.js'
import { optionalCases, type StorageDriver } from './support/driver.js'
import { given, holds, rejects, same } from './support/expect.js'
import { createWebhook, named } from './support/samples.js'

const answerCase = optionalCases('idempotency', 'idempotency', (driver) => {
  const { idempotency: store } = driver.harness.storage
  return store === undefined ? null : { store, ...driver }
})

/** Cases for storages that store answers with the work. */
const atomicCase = optionalCases('idempotency', 'idempotency', (driver) => {
  const { idempotency: store, webhooks, deliveries } = driver.harness.storage
  const database = store?.database
  const isShared = database !== undefined && webhooks.database === database && deliveries.database === database
  return store === undefined || !isShared ? null : { store, ...driver }
})

function request (claim: string, changes: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return {
    digest: 'd'.repeat(64),
    fingerprint: 'f'.repeat(64),
    claim,
    isAtomic: false,
    leaseMs: 60_000,
    keepMs: 86_400_000,
    maxDigests: 4096,
    ...changes
  }
}

const claimed: IdempotencyState = { state: 'claimed' }
const running: IdempotencyState = { state: 'running', fingerprint: 'f'.repeat(64) }
const unknown: IdempotencyState = { state: 'unknown', fingerprint: 'f'.repeat(64) }

function answered (answer: string): IdempotencyState {
  return { state: 'answered', fingerprint: 'f'.repeat(64), answer }
}

/** A call that stores an answer with its work. */
interface AtomicCall {
  run (answer: AnswerToStore<unknown>): Promise<unknown>
  /** Returns what the call changes. */
  read (): Promise<unknown>
}

/** Returns a call of each method that stores answers with its work, ready to be called. */
async function prepareCalls ({ webhooks, deliveries, ...driver }: StorageDriver): Promise<Record<string, AtomicCall>> {
  const listWebhooks = (): Promise<Webhook[]> =>
    webhooks.list('acme', { sort: [{ field: 'id', direction: 'asc' }], filter: {}, offset: 0, limit: 10 })
  const [webhook, other] = [await driver.addWebhook(), await driver.addWebhook()]
  await driver.emit()
  for (const { id } of [webhook, other]) await driver.skipPending(id)
  const [skipped] = await driver.log(webhook)
  const id = await webhooks.nextId('acme')
  const selection = { include: 'undelivered', eventTypes: null, eventIds: null, since: null, until: null, limit: 9 } as const
  return {
    create: { run: (answer) => webhooks.create('acme', createWebhook(id), { maxPerTenant: 9, answer }), read: listWebhooks },
    rotateSecret: {
      run: (answer) => webhooks.rotateSecret('acme', webhook.id, { secret: 'next', gracePeriodSeconds: 9 }, answer),
      read: () => webhooks.findSecrets('acme', webhook.id)
    },
    retry: {
      run: (answer) => deliveries.retry('acme', webhook.id, given(skipped, 'a skipped delivery').id, answer),
      read: () => driver.log(webhook)
    },
    replay: {
      run: (answer) => deliveries.replay('acme', other.id, selection, answer), read: () => driver.log(other)
    }
  }
}

async function claimAtomic (store: IdempotencyStore, claim: string): Promise<IdempotencyState> {
  return store.claim('acme', request(claim, { isAtomic: true }))
}

export const idempotencyCases = [
  answerCase('claim', 'a request is claimed once, and later attempts get the saved answer', async ({ store }) => {
    same(await store.claim('acme', request('first')), claimed, 'the first attempt')
    const other = request('second', { fingerprint: 'e'.repeat(64) })
    same(await store.claim('acme', other), running, 'an attempt of another request while the first is running')
    const answer = JSON.stringify({ text: 'é "quoted" \u{1F600}\n', status: 201 })
    same(await store.save('acme', request('first'), answer), true, 'whether the answer is stored')
    for (const later of ['another answer', null]) {
      same(await store.claim('acme', other), answered(answer), 'an attempt after the first has ended')
      same(await store.save('acme', request('first'), later), false, `whether ${later} replaces it`)
    }
  }),

  answerCase('claim', 'only one of several concurrent attempts is claimed', async ({ store }) => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const states = await Promise.all(names.map((claim) => store.claim('acme', request(claim))))
    same(states.filter(({ state }) => state === 'claimed').length, 1, 'the number of claimed attempts')
  }),

  answerCase('claim', 'requests of other tenants and with other digests are independent', async ({ store }) => {
    await store.claim('acme', request('first'))
    same(await store.claim('globex', request('theirs')), claimed, 'the request of another tenant')
    same(await store.claim('acme', request('other', { digest: 'c'.repeat(64) })), claimed, 'another digest')
    await store.save('globex', request('first'), 'theirs')
    await store.save('acme', request('first'), 'ours')
    same([await store.claim('acme', request('again')), await store.claim('globex', request('again'))],
      [answered('ours'), running], 'the requests of both tenants')
  }),

  answerCase('save', 'a request without an answer can be claimed again', async ({ store }) => {
    await store.claim('acme', request('first'))
    same(await store.save('acme', request('first'), null), true, 'whether the request is deleted')
    same(await store.claim('acme', request('second')), claimed, 'the next attempt')
  }),

  answerCase('renew', 'the outcome is unknown when the lease expires, unless it is renewed', async ({ store, wait }) => {
    await store.claim('acme', request('first', { leaseMs: 40 }))
    await store.renew('acme', request('other', { leaseMs: 1 }))
    await store.renew('acme', request('first', { leaseMs: 600_000 }))
    await wait(50)
    same(await store.claim('acme', request('second')), running, 'an attempt during the renewed lease')
    await store.renew('acme', request('first', { leaseMs: 1 }))
    await wait(10)
    same(await store.claim('acme', request('second')), unknown, 'an attempt after the lease')
    await store.save('acme', request('first'), 'late')
    same(await store.claim('acme', request('second')), answered('late'), 'an attempt after the late answer')
  }),

  answerCase('claim', 'an atomic request without an answer is taken over by the same request', async ({ store }) => {
    for (const claim of ['first', 'second', 'third']) same(await claimAtomic(store, claim), claimed, `the ${claim} attempt`)
    const other = request('other', { isAtomic: true, fingerprint: 'e'.repeat(64) })
    same(await store.claim('acme', other), running, 'an attempt of another request')
    for (const answer of ['late', null]) {
      same(await store.save('acme', request('second'), answer), false, `whether the second attempt saved ${answer}`)
      same(await store.claim('acme', other), running, `another request, after the second attempt saved ${answer}`)
    }
    await store.save('acme', request('third'), 'ours')
    same(await claimAtomic(store, 'fourth'), answered('ours'), 'an attempt after the third has ended')
  }),

  answerCase('claim', 'a tenant has at most maxDigests', async ({ store }) => {
    // The same number begins with each digit.
    const digests = Array.from({ length: 48 }, (_, index) => (index % 16).toString(16) + String(index).padStart(63, '0'))
    const attempt = (digest: string): IdempotentRequest => request('first', { digest, keepMs: 60_000, maxDigests: 32 })
    const states = new Map<string, IdempotencyState>()
    for (const digest of digests) states.set(digest, await store.claim('acme', attempt(digest)))
    const [stored = '', ...others] = digests.filter((digest) => states.get(digest)?.state === 'claimed')
    holds(others.length >= 7 && others.length <= 31, 'between a quarter of maxDigests and maxDigests are claimed')
    const next = digests.find((digest) => states.get(digest)?.state === 'full') ?? ''
    const full = given(states.get(next), 'a claim beyond maxDigests')
    holds(full.state === 'full' && full.waitMs > 0 && full.waitMs <= 60_000, 'waitMs is the time until one expires')
    same(await store.claim('acme', attempt(stored)), running, 'a digest that the tenant has')
    same(await store.claim('globex', attempt(next)), claimed, 'a digest of another tenant')
    for (const digest of [stored, ...others]) await store.save('acme', attempt(digest), null)
    same(await store.claim('acme', attempt(next)), claimed, 'a digest after the others are deleted')
  }),

  answerCase('claim', 'an answer is kept for the given time', async ({ store, wait }) => {
    await store.claim('acme', request('first', { keepMs: 600_000 }))
    await store.save('acme', request('first'), 'first')
    same(await store.claim('acme', request('second')), answered('first'), 'an attempt before the time is over')
    const digest = 'f'.repeat(64)
    await store.claim('acme', request('first', { digest, keepMs: 1 }))
    await store.save('acme', request('first', { digest }), 'first')
    await wait(10)
    same(await store.claim('acme', request('second', { digest })), claimed, 'an attempt when the time is over')
  }),

  answerCase('claim', 'a removed or renamed tenant leaves no answers', async ({ store, webhooks }) => {
    for (const name of ['acme', 'globex']) {
      await store.claim(name, request('first'))
      await store.save(name, request('first'), 'first')
    }
    await webhooks.removeTenant('acme', { limit: 100 })
    await webhooks.renameTenant(named('globex'), named('initech'), { reseal: (secret) => secret })
    for (const name of ['acme', 'globex', 'initech']) {
      same(await store.claim(name, request('second')), claimed, `an attempt of ${name}`)
    }
  }),

  atomicCase('save', 'an answer is stored with the work that it answers', async ({ store, ...driver }) => {
    for (const [name, { run, read }] of Object.entries(await prepareCalls(driver))) {
      const digest = name.padStart(64, '0')
      const atomic = (claim: string): IdempotentRequest => request(claim, { digest, isAtomic: true })
      await store.claim('acme', atomic('first'))
      const before = await read()
      const result = await run({ digest, claim: 'first', format: (result) => JSON.stringify(result) })
      same(await store.claim('acme', atomic('second')), answered(JSON.stringify(result)), `the answer of ${name}`)
      holds(JSON.stringify(await read()) !== JSON.stringify(before), `${name} changes something`)
    }
  }),

  atomicCase('save', 'without its claim, or if the answer cannot be formatted, nothing changes', async ({
    store, ...driver
  }) => {
    for (const [name, { run, read }] of Object.entries(await prepareCalls(driver))) {
      const digest = name.padStart(64, '0')
      const atomic = (claim: string): IdempotentRequest => request(claim, { digest, isAtomic: true })
      for (const claim of ['first', 'second']) await store.claim('acme', atomic(claim))
      const before = await read()
      await rejects(run({ digest, claim: 'first', format: () => 'lost' }), `${name} after another attempt has taken over`)
      const fail = (): never => { throw new Error('format') }
      await rejects(run({ digest, claim: 'second', format: fail }), `${name} whose answer cannot be formatted`)
      same(await read(), before, `what ${name} changes`)
      same(await store.claim('acme', atomic('third')), claimed, `the next attempt of ${name}`)
    }
  })
]
