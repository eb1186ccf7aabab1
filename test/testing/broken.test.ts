import t from 'tap'
import { hashApiKey } from '../../src/core/keys/api-key.js'
import { createDeliveryStore } from '../../src/storages/memory/deliveries/deliveries.js'
import { createHoldStore } from '../../src/storages/memory/holds.js'
import { createIdempotencyStore } from '../../src/storages/memory/idempotency.js'
import { memoryChanges, memoryStorage } from '../../src/storages/memory/index.js'
import { createWebhookData, type WebhookData } from '../../src/storages/memory/webhook-data.js'
import { createSubscriptionStore } from '../../src/storages/memory/subscriptions.js'
import { createWebhookStore } from '../../src/storages/memory/webhooks.js'
import type { ApiKey, RecruitingStorage } from '../../src/core/ports/index.js'
import { numberIds } from '../../src/tools/testing/support/case.js'
import { keyLookupCases, runCases, type SavedKey, storageCases, type StorageHarness } from '../../src/tools/testing/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

type CorrectStorage = Required<Omit<RecruitingStorage, 'verify' | 'feed' | 'connections'>> & { data: WebhookData }
type Broken = { [Port in keyof Omit<CorrectStorage, 'data'>]?: Partial<CorrectStorage[Port]> }

/** A storage that is correct except for these methods, and the case that must catch it. */
type Mistake = [storage: string, caughtBy: string, breaks: (correct: CorrectStorage) => Broken]

/** One mistake per group, because a case that cannot fail looks like one that passes. */
const mistakes: Mistake[] = [
  // Lists
  ['lists rows of other tenants', 'candidates: a tenant sees only its own rows',
    ({ candidates }) => ({
      candidates: {
        list: async (_tenant, query) =>
          [...await candidates.list('acme', query), ...await candidates.list('globex', query)]
      }
    })],
  // Webhooks
  ['allows one webhook more than the limit', 'at most maxPerTenant webhooks are stored, and a deleted one makes room',
    ({ webhooks }) => ({
      webhooks: {
        create: (tenant, webhook, { maxPerTenant }) =>
          webhooks.create(tenant, webhook, { maxPerTenant: maxPerTenant + 1 })
      }
    })],
  // Deliveries
  ['accepts a result with an old fence', 'a result with an old fence is ignored',
    ({ deliveries, data }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) =>
          ({ ...result, fence: data.deliveries.get(result.deliveryId)?.fence ?? result.fence })), rule)
      }
    })],
  [
    'accepts a transaction and ignores it',
    'an event commits with the host\'s transaction; a storage without transactions rejects it',
    ({ deliveries }) => ({ deliveries: { record: (tenant, event) => deliveries.record(tenant, event) } })],
  // Tenancy
  ['deletes webhooks of other tenants', 'a webhook of another tenant is not deleted',
    ({ webhooks }) => ({ webhooks: { delete: (_tenant, id) => webhooks.delete('acme', id) } })],
  // Races
  ['counts and creates in two steps', 'of several concurrent creations for the last free place, exactly one succeeds',
    ({ webhooks }) => ({
      webhooks: {
        async create (tenant, webhook, { maxPerTenant }) {
          const count = await webhooks.count(tenant, {})
          return count < maxPerTenant ? webhooks.create(tenant, webhook, { maxPerTenant: 1000 }) : null
        }
      }
    })],
  // Sync
  ['forgets deletions', 'a deletion is listed like any other change',
    ({ changes }) => ({
      changes: { record: async (tenant, change) => change.deleted ? undefined : changes.record(tenant, change) }
    })],
  // Idempotency
  ['does not store the answer with the work', 'an answer is stored with the work that it answers',
    ({ webhooks }) => ({
      webhooks: { create: (tenant, webhook, { maxPerTenant }) => webhooks.create(tenant, webhook, { maxPerTenant }) }
    })],
  ['stores the response of a late attempt', 'an atomic request without an answer is taken over by the same request',
    ({ data }) => ({
      idempotency: {
        async save (tenant, { digest }, answer) {
          for (const [key, record] of data.requests) if (key === `${tenant} ${digest}`) record.answer = answer
          return true
        }
      }
    })]
]

function makeBroken (breaks: Mistake[2]): StorageHarness {
  const clock = createManualClock()
  const { candidates, jobs } = memoryStorage({ clock })
  const data = createWebhookData(() => clock.now(), memoryChanges({ clock }))
  const correct = {
    candidates,
    jobs,
    webhooks: createWebhookStore(data),
    deliveries: createDeliveryStore(data),
    changes: data.changes,
    holds: createHoldStore(data),
    idempotency: createIdempotencyStore(data),
    subscriptions: createSubscriptionStore(data)
  }
  const broken = breaks({ ...correct, data })
  return {
    storage: {
      candidates: { ...correct.candidates, ...broken.candidates },
      jobs: { ...correct.jobs, ...broken.jobs },
      webhooks: { ...correct.webhooks, ...broken.webhooks },
      deliveries: { ...correct.deliveries, ...broken.deliveries },
      changes: { ...correct.changes, ...broken.changes },
      holds: { ...correct.holds, ...broken.holds },
      idempotency: { ...correct.idempotency, ...broken.idempotency }
    },
    saveCandidates: (tenant, rows) => rows.forEach((row) => candidates.save(tenant, { ...row })),
    saveJobs: (tenant, rows) => rows.forEach((row) => jobs.save(tenant, { ...row })),
    advance: (ms) => clock.advance(ms)
  }
}

for (const [storage, caughtBy, breaks] of mistakes) {
  t.test(`a storage that ${storage} is caught by: ${caughtBy}`, async (t) => {
    const cases = storageCases.filter(({ name }) => name === caughtBy)
    const [correct] = await runCases(cases, () => makeBroken(() => ({})))
    const [broken] = await runCases(cases, () => makeBroken(breaks))
    t.equal(correct?.error, null)
    t.equal(broken?.error?.name, 'AssertionError')
  })
}

t.test('cases use all ports of a storage with text ids', async (t) => {
  const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  const storage = memoryStorage({ ids })
  const numbered = numberIds({ ids, storage, saveCandidates () {}, saveJobs () {} })
  for (const port of Object.keys(storage)) t.ok(Object.hasOwn(numbered.storage, port), port)
})

t.test('a lookup that ignores the tenant is caught', async (t) => {
  const cases = keyLookupCases.filter(({ name }) => name === 'a key is not found for another or an unknown tenant')
  const [result] = await runCases(cases, () => {
    const saved: SavedKey[] = []
    return {
      async lookup ({ key }): Promise<ApiKey | null> {
        const found = saved.find((one) => one.key === key && one.state === 'valid')
        return found === undefined ? null : { id: hashApiKey(key).slice(0, 8), scopes: [...found.scopes] }
      },
      save (key) {
        saved.push(key)
        return key.key
      }
    }
  })
  t.equal(result?.error?.name, 'AssertionError')
})
