import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { hashApiKey } from '../../src/keys/api-key.js'
import { createDeliveryStore } from '../../src/memory/deliveries/deliveries.js'
import { createHoldStore } from '../../src/memory/holds.js'
import { createIdempotencyStore } from '../../src/memory/idempotency.js'
import { memoryChanges, memoryStorage } from '../../src/memory/index.js'
import { createWebhookData, type WebhookData } from '../../src/memory/webhook-data.js'
import { createWebhookStore } from '../../src/memory/webhooks.js'
import type { ApiKey, ClaimedDelivery, RecruitingStorage } from '../../src/ports/index.js'
import { keyLookupCases, runCases, type SavedKey, storageCases, type StorageHarness } from '../../src/testing/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

type RightStorage = Required<Omit<RecruitingStorage, 'verify' | 'feed'>> & { data: WebhookData }
type Broken = { [Port in keyof Omit<RightStorage, 'data'>]?: Partial<RightStorage[Port]> }

/** A storage that is right but for these methods, and the case that must catch it. */
type Mistake = [storage: string, caughtBy: string, breaks: (right: RightStorage) => Broken]

/** Some mistakes of each group: a case that cannot fail looks like one that passes. */
const mistakes: Mistake[] = [
  // Lists
  ['lists rows of other tenants', 'candidates: a tenant sees only its own rows',
    ({ candidates }) => ({
      candidates: {
        list: async (_tenant, query) =>
          [...await candidates.list('acme', query), ...await candidates.list('globex', query)]
      }
    })],
  ['sorts by the first field only', 'candidates: ties are broken by the next field, in its own direction',
    ({ candidates }) => ({
      candidates: { list: (tenant, query) => candidates.list(tenant, { ...query, sort: query.sort.slice(0, 1) }) }
    })],
  ['finds q only at the beginning of a name', 'candidates: q finds its text anywhere in the name',
    ({ candidates }) => ({
      candidates: {
        list: async (tenant, query) => (await candidates.list(tenant, query))
          .filter(({ full_name: name }) => name.toLowerCase().startsWith(query.filter.q?.toLowerCase() ?? ''))
      }
    })],
  ['counts without the filter', 'candidates: the total does not depend on the page',
    ({ candidates }) => ({ candidates: { count: (tenant) => candidates.count(tenant, {}) } })],
  ['returns ids as text', 'candidates: a row has the fields of its type, with their types',
    ({ candidates }) => ({
      candidates: {
        list: async (tenant, query) =>
          (await candidates.list(tenant, query)).map((row) => Object.assign(row, { id: `${row.id}` }))
      }
    })],
  // Webhooks
  ['allows one webhook more than the limit', 'at most maxPerTenant webhooks are stored, and a deleted one makes room',
    ({ webhooks }) => ({ webhooks: { create: (tenant, webhook, max) => webhooks.create(tenant, webhook, max + 1) } })],
  ['returns the oldest secret first', 'both secrets are valid during the grace period, newest first',
    ({ webhooks }) => ({
      webhooks: { findSecrets: async (tenant, id) => (await webhooks.findSecrets(tenant, id))?.toReversed() ?? null }
    })],
  // Deliveries
  ['claims leased deliveries', 'a leased delivery is not claimed',
    ({ deliveries }) => ({
      deliveries: {
        async claimDue (options) {
          const claimed = await deliveries.claimDue(options)
          await deliveries.release(claimed.slice(0, 1))
          return claimed
        }
      }
    })],
  ['accepts a result with an old fence', 'a result with an old fence is ignored',
    ({ deliveries, data }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) =>
          ({ ...result, fence: data.deliveries.get(result.deliveryId)?.fence ?? result.fence })), rule)
      }
    })],
  ['ignores perEndpoint', 'perEndpoint limits the leases of a webhook, over all claims',
    ({ deliveries }) => ({
      deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, perEndpoint: 1000 }) }
    })],
  ['claims the newest delivery first', 'first attempts come in the order in which their events were recorded',
    ({ deliveries }) => ({
      deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).toReversed() }
    })],
  [
    'accepts a transaction and ignores it',
    'an event commits with the host\'s transaction, or is rejected by a storage without transactions',
    ({ deliveries }) => ({ deliveries: { record: (tenant, event) => deliveries.record(tenant, event) } })],
  ['lets each environment claim', 'only workers of the first environment, and those without one, claim',
    ({ deliveries }) => ({
      deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, environment: null }) }
    })],
  // Tenancy
  ['deletes webhooks of other tenants', 'a webhook of another tenant is neither changed nor deleted',
    ({ webhooks }) => ({ webhooks: { delete: (_tenant, id) => webhooks.delete('acme', id) } })],
  ['puts an event of one tenant into a claim of another', 'a claim has the body, address and secret of its own tenant',
    ({ deliveries }) => ({
      deliveries: {
        async claimDue (options) {
          const claimed = await deliveries.claimDue(options)
          return claimed.map((one) => ({ ...one, body: claimed[0]?.body ?? '' }))
        }
      }
    })],
  ['does not reseal secrets', 'secrets of a renamed tenant are those that reseal returns',
    ({ webhooks }) => ({
      webhooks: {
        renameTenant: (from, to, options) => webhooks.renameTenant(from, to, { ...options, reseal: (secret) => secret })
      }
    })],
  // Races
  ['counts and creates in two steps', 'of several concurrent creations for the last free place, exactly one succeeds',
    ({ webhooks }) => ({
      webhooks: {
        async create (tenant, webhook, max) {
          const count = await webhooks.count(tenant, {})
          return count < max ? webhooks.create(tenant, webhook, 1000) : null
        }
      }
    })],
  ['finds due deliveries and leases them in two steps', 'no delivery is claimed by two concurrent callers',
    ({ deliveries }) => {
      let underWay: Promise<ClaimedDelivery[]> | null = null
      return {
        deliveries: {
          async claimDue (options) {
            underWay ??= deliveries.claimDue(options)
            const claimed = await underWay
            underWay = null
            return claimed
          }
        }
      }
    }],
  ['finds a webhook and deletes it in two steps', 'of several concurrent deletions, exactly one finds the webhook',
    ({ webhooks }) => ({
      webhooks: {
        async delete (tenant, id) {
          const found = await webhooks.find(tenant, id)
          await setImmediate()
          await webhooks.delete(tenant, id)
          return found !== null
        }
      }
    })],
  // Sync
  ['forgets deletions', 'a deletion is listed like any change',
    ({ changes }) => ({
      changes: { record: async (tenant, change) => change.deleted ? undefined : changes.record(tenant, change) }
    })],
  [
    'knows the positions of a removed tenant',
    'positions of a removed tenant are not known, also if the name is taken again',
    ({ data }) => {
      data.changes.removeTenant = () => {}
      return {}
    }],
  ['stores the answer of a late attempt', 'an attempt whose lease has ended stores no answer',
    ({ data }) => ({
      idempotency: {
        async save (tenant, { digest }, answer) {
          for (const [key, record] of data.requests) if (key === `${tenant} ${digest}`) record.answer = answer
        }
      }
    })]
]

function makeBroken (breaks: Mistake[2]): StorageHarness {
  const clock = createManualClock()
  const { candidates, jobs } = memoryStorage({ clock })
  const data = createWebhookData(() => clock.now(), memoryChanges({ clock }))
  const right = {
    candidates,
    jobs,
    webhooks: createWebhookStore(data),
    deliveries: createDeliveryStore(data),
    changes: data.changes,
    holds: createHoldStore(data),
    idempotency: createIdempotencyStore(data)
  }
  const broken = breaks({ ...right, data })
  return {
    storage: {
      candidates: { ...right.candidates, ...broken.candidates },
      jobs: { ...right.jobs, ...broken.jobs },
      webhooks: { ...right.webhooks, ...broken.webhooks },
      deliveries: { ...right.deliveries, ...broken.deliveries },
      changes: { ...right.changes, ...broken.changes },
      holds: { ...right.holds, ...broken.holds },
      idempotency: { ...right.idempotency, ...broken.idempotency }
    },
    saveCandidates: (tenant, rows) => rows.forEach((row) => candidates.save(tenant, { ...row })),
    saveJobs: (tenant, rows) => rows.forEach((row) => jobs.save(tenant, { ...row })),
    advance: (ms) => clock.advance(ms)
  }
}

for (const [storage, caughtBy, breaks] of mistakes) {
  t.test(`a storage that ${storage} is caught by: ${caughtBy}`, async (t) => {
    const cases = storageCases.filter(({ name }) => name === caughtBy)
    const [right] = await runCases(cases, () => makeBroken(() => ({})))
    const [broken] = await runCases(cases, () => makeBroken(breaks))
    t.equal(right?.error, null)
    t.equal(broken?.error?.name, 'AssertionError')
  })
}

/** Finds a key among those that were saved. */
type Find = (saved: readonly SavedKey[], tenant: string, key: string) => SavedKey | undefined

const lookups: Array<[lookup: string, caughtBy: string, find: Find]> = [
  ['ignores the tenant', 'a key of another tenant, or for an unknown tenant, is null', (saved, _tenant, key) =>
    saved.find((one) => one.key === key && one.state === 'valid')],
  ['ignores revocation', 'a revoked key is null', (saved, tenant, key) =>
    saved.find((one) => one.key === key && one.tenantSlug === tenant && one.state !== 'expired')]
]

for (const [lookup, caughtBy, find] of lookups) {
  t.test(`a lookup that ${lookup} fails the case: ${caughtBy}`, async (t) => {
    const cases = keyLookupCases.filter(({ name }) => name === caughtBy)
    const [result] = await runCases(cases, () => {
      const saved: SavedKey[] = []
      return {
        async lookup ({ tenantSlug, key }): Promise<ApiKey | null> {
          const found = find(saved, tenantSlug, key)
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
}
