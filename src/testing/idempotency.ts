import type { IdempotentRequest } from '../ports/index.js'
import { optionalCases } from './support/driver.js'
import { same } from './support/expect.js'
import { named } from './support/samples.js'

const answerCase = optionalCases('idempotency', 'idempotency', ({ harness, webhooks, wait }) => {
  const { idempotency: store } = harness.storage
  return store === undefined ? null : { store, webhooks, wait }
})

function request (claim: string, changes: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return {
    digest: 'd'.repeat(64), fingerprint: 'f'.repeat(64), claim, leaseMs: 60_000, keepMs: 86_400_000, ...changes
  }
}

const claimed = { isClaimed: true, fingerprint: 'f'.repeat(64), answer: null }
const running = { ...claimed, isClaimed: false }

/** Cases about stored responses to requests with `Idempotency-Key`. */
export const idempotencyCases = [
  answerCase('claim', 'a request is claimed once, and later attempts get the saved answer', async ({ store }) => {
    same(await store.claim('acme', request('first')), claimed, 'the first attempt')
    const other = request('second', { fingerprint: 'e'.repeat(64) })
    same(await store.claim('acme', other), running, 'an attempt of another request while the first is running')
    const answer = JSON.stringify({ text: 'é "quoted" \u{1F600}\n', status: 201 })
    await store.save('acme', request('first'), answer)
    same(await store.claim('acme', other), { ...running, answer }, 'an attempt after the first has ended')
  }),

  answerCase('claim', 'only one of several concurrent attempts is claimed', async ({ store }) => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const states = await Promise.all(names.map((claim) => store.claim('acme', request(claim))))
    same(states.filter(({ isClaimed }) => isClaimed).length, 1, 'the number of claimed attempts')
  }),

  answerCase('claim', 'requests of other tenants and with other digests are independent', async ({ store }) => {
    await store.claim('acme', request('first'))
    same(await store.claim('globex', request('theirs')), claimed, 'the request of another tenant')
    same(await store.claim('acme', request('other', { digest: 'c'.repeat(64) })), claimed, 'another digest')
    await store.save('globex', request('first'), 'theirs')
    await store.save('acme', request('first'), 'ours')
    same([(await store.claim('acme', request('again'))).answer, (await store.claim('globex', request('again'))).answer],
      ['ours', null], 'the answers of both tenants')
  }),

  answerCase('save', 'a request without an answer can be claimed again', async ({ store }) => {
    await store.claim('acme', request('first'))
    await store.save('acme', request('first'), null)
    same(await store.claim('acme', request('second')), claimed, 'the next attempt')
  }),

  answerCase('save', 'an attempt whose lease has expired stores no answer', async ({ store, wait }) => {
    await store.claim('acme', request('late', { leaseMs: 10 }))
    await wait(20)
    same(await store.claim('acme', request('next')), claimed, 'an attempt after the lease')
    for (const answer of ['late', null]) {
      await store.save('acme', request('late'), answer)
      same(await store.claim('acme', request('third')), running, `a third attempt, after the late one saved ${answer}`)
    }
  }),

  answerCase('claim', 'an answer is kept for the given time', async ({ store, wait }) => {
    await store.claim('acme', request('first', { leaseMs: 5, keepMs: 300 }))
    await store.save('acme', request('first'), 'first')
    same((await store.claim('acme', request('second'))).answer, 'first', 'the answer before the time is over')
    await wait(310)
    same(await store.claim('acme', request('third')), claimed, 'an attempt when the time is over')
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
  })
]
