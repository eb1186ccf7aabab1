import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { hashApiKey } from '../../src/keys/api-key.js'
import { createDeliveryStore } from '../../src/memory/deliveries/deliveries.js'
import { createHoldStore } from '../../src/memory/holds.js'
import { memoryChanges, memoryStorage } from '../../src/memory/index.js'
import { createWebhookData, type WebhookData } from '../../src/memory/webhook-data.js'
import { createWebhookStore } from '../../src/memory/webhooks.js'
import type { ApiKey, ClaimedDelivery, RecruitingStorage } from '../../src/ports/index.js'
import { keyLookupCases, runCases, type SavedKey, storageCases, type StorageHarness } from '../../src/testing/index.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

type RightStorage = Required<Omit<RecruitingStorage, 'verify' | 'feed'>> & { data: WebhookData }
type Broken = { [Port in keyof Omit<RightStorage, 'data'>]?: Partial<RightStorage[Port]> }

/** A storage that is right but for these methods, and the case that must catch it. */
interface Mistake {
  storage: string
  caughtBy: string
  breaks (right: RightStorage): Broken
}

/** Some mistakes of each group: a case that cannot fail looks like one that passes. */
const mistakes: Mistake[] = [
  // Lists
  {
    storage: 'lists rows of other tenants',
    caughtBy: 'candidates: a tenant sees only its own rows',
    breaks: ({ candidates }) => ({
      candidates: {
        list: async (_tenant, query) =>
          [...await candidates.list('acme', query), ...await candidates.list('globex', query)]
      }
    })
  },
  {
    storage: 'sorts by the first field only',
    caughtBy: 'candidates: ties are broken by the next field, in its own direction',
    breaks: ({ candidates }) => ({
      candidates: { list: (tenant, query) => candidates.list(tenant, { ...query, sort: query.sort.slice(0, 1) }) }
    })
  },
  {
    storage: 'finds q only at the beginning of a name',
    caughtBy: 'candidates: q finds its text anywhere in the name',
    breaks: ({ candidates }) => ({
      candidates: {
        list: async (tenant, query) => (await candidates.list(tenant, query))
          .filter(({ full_name: name }) => name.toLowerCase().startsWith(query.filter.q?.toLowerCase() ?? ''))
      }
    })
  },
  {
    storage: 'counts without the filter',
    caughtBy: 'candidates: the total does not depend on the page',
    breaks: ({ candidates }) => ({ candidates: { count: (tenant) => candidates.count(tenant, {}) } })
  },
  {
    storage: 'returns ids as text',
    caughtBy: 'candidates: a row has the fields of its type, with their types',
    breaks: ({ candidates }) => ({
      candidates: {
        list: async (tenant, query) =>
          (await candidates.list(tenant, query)).map((row) => Object.assign(row, { id: `${row.id}` }))
      }
    })
  },
  // Webhooks
  {
    storage: 'allows one webhook more than the limit',
    caughtBy: 'at most maxPerTenant webhooks are stored, and a deleted one makes room',
    breaks: ({ webhooks }) => ({
      webhooks: { create: (tenant, webhook, max) => webhooks.create(tenant, webhook, max + 1) }
    })
  },
  {
    storage: 'returns the oldest secret first',
    caughtBy: 'both secrets are valid during the grace period, newest first',
    breaks: ({ webhooks }) => ({
      webhooks: { findSecrets: async (tenant, id) => (await webhooks.findSecrets(tenant, id))?.toReversed() ?? null }
    })
  },
  // Deliveries
  {
    storage: 'claims leased deliveries',
    caughtBy: 'a leased delivery is not claimed',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue (options) {
          const claimed = await deliveries.claimDue(options)
          await deliveries.release(claimed.slice(0, 1))
          return claimed
        }
      }
    })
  },
  {
    storage: 'accepts a result with an old fence',
    caughtBy: 'a result with an old fence is ignored',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) =>
          ({ ...result, fence: data.deliveries.get(result.deliveryId)?.fence ?? result.fence })), rule)
      }
    })
  },
  {
    storage: 'ignores perEndpoint',
    caughtBy: 'perEndpoint limits the leases of a webhook, over all claims',
    breaks: ({ deliveries }) => ({
      deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, perEndpoint: 1000 }) }
    })
  },
  {
    storage: 'claims the newest delivery first',
    caughtBy: 'first attempts come in the order in which their events were recorded',
    breaks: ({ deliveries }) => ({
      deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).toReversed() }
    })
  },
  {
    storage: 'accepts a transaction and ignores it',
    caughtBy: 'an event commits with the host\'s transaction, or is rejected by a storage without transactions',
    breaks: ({ deliveries }) => ({ deliveries: { record: (tenant, event) => deliveries.record(tenant, event) } })
  },
  {
    storage: 'lets each environment claim',
    caughtBy: 'only workers of the first environment, and those without one, claim',
    breaks: ({ deliveries }) => ({
      deliveries: { claimDue: (options) => deliveries.claimDue({ ...options, environment: null }) }
    })
  },
  // Tenancy
  {
    storage: 'deletes webhooks of other tenants',
    caughtBy: 'a webhook of another tenant is neither changed nor deleted',
    breaks: ({ webhooks }) => ({ webhooks: { delete: (_tenant, id) => webhooks.delete('acme', id) } })
  },
  {
    storage: 'puts an event of one tenant into a claim of another',
    caughtBy: 'a claim has the body, address and secret of its own tenant',
    breaks: ({ deliveries }) => ({
      deliveries: {
        async claimDue (options) {
          const claimed = await deliveries.claimDue(options)
          return claimed.map((one) => ({ ...one, body: claimed[0]?.body ?? '' }))
        }
      }
    })
  },
  {
    storage: 'does not reseal secrets',
    caughtBy: 'secrets of a renamed tenant are those that reseal returns',
    breaks: ({ webhooks }) => ({
      webhooks: {
        renameTenant: (from, to, options) => webhooks.renameTenant(from, to, { ...options, reseal: (secret) => secret })
      }
    })
  },
  // Races
  {
    storage: 'counts and creates in two steps',
    caughtBy: 'of several concurrent creations for the last free place, exactly one succeeds',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async create (tenant, webhook, max) {
          const count = await webhooks.count(tenant, {})
          return count < max ? webhooks.create(tenant, webhook, 1000) : null
        }
      }
    })
  },
  {
    storage: 'finds due deliveries and leases them in two steps',
    caughtBy: 'no delivery is claimed by two concurrent callers',
    breaks: ({ deliveries }) => {
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
    }
  },
  {
    storage: 'finds a webhook and deletes it in two steps',
    caughtBy: 'of several concurrent deletions, exactly one finds the webhook',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async delete (tenant, id) {
          const found = await webhooks.find(tenant, id)
          await setImmediate()
          await webhooks.delete(tenant, id)
          return found !== null
        }
      }
    })
  },
  // Sync
  {
    storage: 'forgets deletions',
    caughtBy: 'a deletion is listed like any change',
    breaks: ({ changes }) => ({
      changes: { record: async (tenant, change) => change.deleted ? undefined : changes.record(tenant, change) }
    })
  },
  {
    storage: 'knows the positions of a removed tenant',
    caughtBy: 'positions of a removed tenant are not known, also if the name is taken again',
    breaks: ({ data }) => {
      data.changes.removeTenant = () => {}
      return {}
    }
  }
]

function makeBroken ({ breaks }: Mistake): StorageHarness {
  const clock = createManualClock()
  const { candidates, jobs } = memoryStorage({ clock })
  const data = createWebhookData(() => clock.now(), memoryChanges({ clock }))
  const right = {
    candidates,
    jobs,
    webhooks: createWebhookStore(data),
    deliveries: createDeliveryStore(data),
    changes: data.changes,
    holds: createHoldStore(data)
  }
  const broken = breaks({ ...right, data })
  return {
    storage: {
      candidates: { ...right.candidates, ...broken.candidates },
      jobs: { ...right.jobs, ...broken.jobs },
      webhooks: { ...right.webhooks, ...broken.webhooks },
      deliveries: { ...right.deliveries, ...broken.deliveries },
      changes: { ...right.changes, ...broken.changes },
      holds: { ...right.holds, ...broken.holds }
    },
    saveCandidates: (tenant, rows) => rows.forEach((row) => candidates.save(tenant, { ...row })),
    saveJobs: (tenant, rows) => rows.forEach((row) => jobs.save(tenant, { ...row })),
    advance: (ms) => clock.advance(ms)
  }
}

for (const mistake of mistakes) {
  t.test(`a storage that ${mistake.storage} is caught by: ${mistake.caughtBy}`, async (t) => {
    const cases = storageCases.filter(({ name }) => name === mistake.caughtBy)
    const [right] = await runCases(cases, () => makeBroken({ ...mistake, breaks: () => ({}) }))
    const [broken] = await runCases(cases, () => makeBroken(mistake))
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
