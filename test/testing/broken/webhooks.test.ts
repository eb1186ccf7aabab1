import type { DeliveryWithAttempts, EventFilters, FilterValue, NewWebhook, Webhook } from '../../../src/ports/index.js'
import { findWebhook } from '../../../src/memory/webhook-data.js'
import { createFilterTest } from '../../../src/shared/filters.js'
import { type Mistake, type RightStorage, testMistakes } from '../../fixtures/delivery/broken-storage.js'

testMistakes([
  {
    storage: 'loses the order of event types',
    caughtBy: 'event types keep the order given by the client',
    breaks: ({ webhooks }) => ({
      webhooks: {
        create: (tenantSlug, webhook, max) => webhooks.create(tenantSlug, { ...webhook, event_types: webhook.event_types.toSorted() }, max)
      }
    })
  },
  {
    storage: 'shows the secret',
    caughtBy: 'a webhook is returned as it was created, without its secret',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async find (tenantSlug, id) {
          const webhook = await webhooks.find(tenantSlug, id)
          return webhook && Object.assign(webhook, { secret: (await webhooks.findSecrets(tenantSlug, id))?.[0] })
        }
      }
    })
  },
  {
    storage: 'reuses ids',
    caughtBy: 'an id is never returned twice, across all tenants',
    breaks: ({ webhooks, data }) => ({
      webhooks: { nextId: async (tenantSlug) => data.tenants.has(tenantSlug) ? webhooks.nextId(tenantSlug) : 1 }
    })
  },
  {
    storage: 'overwrites a webhook with the same id',
    caughtBy: 'create rejects an id that another webhook has',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async create (tenantSlug: string, webhook: NewWebhook, max: number) {
          await webhooks.delete(tenantSlug, webhook.id)
          return webhooks.create(tenantSlug, webhook, max)
        }
      }
    })
  },
  {
    storage: 'allows one webhook more than the limit',
    caughtBy: 'at most maxPerTenant webhooks are stored, and a deleted one makes room',
    breaks: ({ webhooks }) => ({ webhooks: { create: (tenantSlug, webhook, max) => webhooks.create(tenantSlug, webhook, max + 1) } })
  },
  {
    storage: 'counts and creates in two steps',
    caughtBy: 'of several concurrent creations for the last free place, exactly one succeeds',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async create (tenantSlug, webhook, max) {
          const count = await webhooks.count(tenantSlug, {})
          return count < max ? webhooks.create(tenantSlug, webhook, 1000) : null
        }
      }
    })
  },
  {
    storage: 'counts the webhooks of all tenants against the limit',
    caughtBy: 'webhooks of other tenants do not count towards maxPerTenant',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async create (tenantSlug, webhook, max) {
          const others = await webhooks.count(tenantSlug === 'acme' ? 'globex' : 'acme', {})
          return webhooks.create(tenantSlug, webhook, max - others)
        }
      }
    })
  },
  {
    storage: 'reads a webhook, changes it and writes it back',
    caughtBy: 'concurrent changes of different fields are all kept',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async update (tenantSlug, id, changes) {
          const before = await webhooks.find(tenantSlug, id)
          if (before === null) return null
          const { name, target_url: targetUrl, event_types: eventTypes } = before
          return webhooks.update(tenantSlug, id, { name, target_url: targetUrl, event_types: eventTypes, ...changes })
        }
      }
    })
  },
  {
    storage: 'leaves updated_at alone when nothing changes',
    caughtBy: 'an update sets updated_at to now, even one that changes nothing',
    breaks: ({ webhooks }) => ({
      webhooks: {
        update: (tenantSlug, id, changes) => Object.keys(changes).length === 0 ? webhooks.find(tenantSlug, id) : webhooks.update(tenantSlug, id, changes)
      }
    })
  },
  {
    storage: 'finds webhooks of other tenants',
    caughtBy: 'a webhook of another tenant is neither found nor listed nor counted',
    breaks: ({ webhooks }) => ({
      webhooks: { find: async (_tenantSlug, id) => await webhooks.find('acme', id) ?? webhooks.find('globex', id) }
    })
  },
  {
    storage: 'deletes webhooks of other tenants',
    caughtBy: 'a webhook of another tenant is neither changed nor deleted',
    breaks: ({ webhooks }) => ({
      webhooks: { delete: async (_tenantSlug, id) => await webhooks.delete('acme', id) || await webhooks.delete('globex', id) }
    })
  },
  {
    storage: 'shows secrets to other tenants',
    caughtBy: 'the secret of another tenant\'s webhook is neither shown nor changed',
    breaks: ({ webhooks }) => ({
      webhooks: { findSecrets: async (_tenantSlug, id) => await webhooks.findSecrets('acme', id) ?? webhooks.findSecrets('globex', id) }
    })
  },
  {
    storage: 'shows the grace period to other tenants',
    caughtBy: 'the grace period of another tenant\'s webhook is not shown',
    breaks: ({ webhooks }) => ({
      webhooks: { findGraceEnd: async (_tenantSlug, id) => await webhooks.findGraceEnd('acme', id) ?? webhooks.findGraceEnd('globex', id) }
    })
  },
  {
    storage: 'shows a grace period that is over',
    caughtBy: 'the end of a grace period is shown until it is reached',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async findGraceEnd (tenantSlug, id) {
          const { previousSecret = null, previousSecretExpiresAt = 0 } = findWebhook(data, tenantSlug, id) ?? {}
          return previousSecret === null ? webhooks.findGraceEnd(tenantSlug, id) : new Date(previousSecretExpiresAt).toISOString()
        }
      }
    })
  },
  {
    storage: 'returns the stored event types array',
    caughtBy: 'changing a webhook that was passed or returned changes nothing that is stored',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async find (tenantSlug, id): Promise<Webhook | null> {
          const webhook = await webhooks.find(tenantSlug, id)
          const kept = findWebhook(data, tenantSlug, id)?.eventTypes
          return webhook && Object.assign(webhook, { event_types: kept })
        }
      }
    })
  },
  {
    storage: 'ignores the status filter of webhooks',
    caughtBy: 'webhooks are filtered by status',
    breaks: ({ webhooks }) => ({ webhooks: { list: (tenantSlug, query) => webhooks.list(tenantSlug, { ...query, filter: {} }) } })
  },
  {
    storage: 'never lets a previous secret expire',
    caughtBy: 'the previous secret expires at the end of its grace period',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async rotateSecret (tenantSlug, id, { secret, gracePeriodSeconds }) {
          return webhooks.rotateSecret(tenantSlug, id, { secret, gracePeriodSeconds: gracePeriodSeconds === 1 ? 1e6 : gracePeriodSeconds })
        }
      }
    })
  },
  {
    storage: 'keeps the previous secret without a grace period',
    caughtBy: 'without a grace period the previous secret is dropped at once',
    breaks: ({ webhooks }) => ({
      webhooks: {
        rotateSecret: (tenantSlug, id, { secret, gracePeriodSeconds }) =>
          webhooks.rotateSecret(tenantSlug, id, { secret, gracePeriodSeconds: Math.max(60, gracePeriodSeconds) })
      }
    })
  },
  {
    storage: 'returns the oldest secret first',
    caughtBy: 'both secrets are valid during the grace period, newest first',
    breaks: ({ webhooks }) => ({
      webhooks: { findSecrets: async (tenantSlug, id) => (await webhooks.findSecrets(tenantSlug, id))?.toReversed() ?? null }
    })
  },
  {
    storage: 'trims secrets',
    caughtBy: 'a secret is stored unchanged, whatever it contains',
    breaks: ({ webhooks }) => ({
      webhooks: { create: (tenantSlug, webhook, max) => webhooks.create(tenantSlug, { ...webhook, secret: webhook.secret.trim() }, max) }
    })
  },
  {
    storage: 'sets updated_at when a secret is replaced',
    caughtBy: 'replacing a stored secret changes nothing else',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async replaceSecret (tenantSlug, id, change) {
          await webhooks.update(tenantSlug, id, {})
          return webhooks.replaceSecret(tenantSlug, id, change)
        }
      }
    })
  },
  {
    storage: 'includes afterId in the listed secrets',
    caughtBy: 'the secrets of all tenants are listed by ascending id',
    breaks: ({ webhooks }) => ({ webhooks: { listSecrets: ({ afterId, limit }) => webhooks.listSecrets({ afterId: afterId - 1, limit }) } })
  },
  {
    storage: 'shows the values of headers',
    caughtBy: 'a webhook shows the names of its headers, and never their values',
    breaks: ({ webhooks }) => ({
      webhooks: {
        async create (tenant, webhook, max) {
          const created = await webhooks.create(tenant, webhook, max)
          return created && Object.assign(created, { headers: webhook.headers })
        }
      }
    })
  },
  {
    storage: 'finds the headers of every tenant',
    caughtBy: 'headers of another tenant and of a webhook that does not exist are not found',
    breaks: ({ webhooks }) => ({ webhooks: { findHeaders: (_tenant, id) => webhooks.findHeaders('acme', id) } })
  },
  {
    storage: 'removes headers with every change',
    caughtBy: 'headers stay with other changes, are replaced as a whole, and removed by null',
    breaks: ({ webhooks }) => ({ webhooks: { update: (tenant, id, changes) => webhooks.update(tenant, id, { headers: null, ...changes }) } })
  },
  {
    storage: 'claims without headers',
    caughtBy: 'a claim has the headers of that time',
    breaks: ({ deliveries }) => ({ deliveries: { claimDue: async (options) => (await deliveries.claimDue(options)).map((claimed) => ({ ...claimed, headers: null })) } })
  },
  {
    storage: 'lists secrets without headers',
    caughtBy: 'sealed headers are listed with the secrets, and replacing them changes nothing else',
    breaks: ({ webhooks }) => ({ webhooks: { listSecrets: async (options) => (await webhooks.listSecrets(options)).map((stored) => ({ ...stored, headers: null })) } })
  },
  {
    storage: 'keeps the headers of a renamed tenant as they were',
    caughtBy: 'headers of a renamed tenant are those that reseal returns',
    breaks: ({ webhooks }) => ({
      webhooks: {
        renameTenant: (from, to, options) => webhooks.renameTenant(from, to, { ...options, reseal: (text, id) => text.startsWith('sealed') ? text : options.reseal(text, id) })
      }
    })
  }
])

/** Shows another delivery than the right one. */
function shows (change: (delivery: DeliveryWithAttempts) => Partial<DeliveryWithAttempts>): Mistake['breaks'] {
  return ({ deliveries }) => ({
    deliveries: {
      async find (tenantSlug, webhookId, id) {
        const delivery = await deliveries.find(tenantSlug, webhookId, id)
        return delivery && { ...delivery, ...change(delivery) }
      }
    }
  })
}

testMistakes([
  {
    storage: 'parses the body and writes it anew',
    caughtBy: 'a delivery shows the exact body, and the tombstone once its subject is erased',
    breaks: shows(({ body }) => ({ body: JSON.stringify(JSON.parse(body)) }))
  },
  {
    storage: 'keeps a copy of the body with each delivery',
    caughtBy: 'a delivery shows the exact body, and the tombstone once its subject is erased',
    breaks: ({ deliveries }) => {
      const bodies = new Map<string, string>()
      return {
        deliveries: {
          async record (tenantSlug, event, transaction) {
            bodies.set(event.id, event.body)
            return deliveries.record(tenantSlug, event, transaction)
          },
          async find (tenantSlug, webhookId, id) {
            const delivery = await deliveries.find(tenantSlug, webhookId, id)
            return delivery && { ...delivery, body: bodies.get(delivery.event_id) ?? '' }
          }
        }
      }
    }
  },
  {
    storage: 'trims excerpts',
    caughtBy: 'the excerpt of each response is kept unchanged, whatever it contains',
    breaks: ({ deliveries }) => ({
      deliveries: {
        recordAttempts: (results, rule) => deliveries.recordAttempts(results.map((result) => (
          { ...result, responseExcerpt: result.responseExcerpt?.trim() ?? null }
        )), rule)
      }
    })
  },
  {
    storage: 'keeps only the excerpt of the last attempt',
    caughtBy: 'the excerpt of each response is kept unchanged, whatever it contains',
    breaks: shows(({ attempts }) => ({
      attempts: attempts.map((attempt, index) => index < attempts.length - 1 ? { ...attempt, response_excerpt: null } : attempt)
    }))
  },
  {
    storage: 'keeps the response to an attempt whose delivery was cancelled',
    caughtBy: 'the response to an attempt whose delivery was cancelled in between is not kept',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async recordAttempts (results, rule) {
          const left = await deliveries.recordAttempts(results, rule)
          for (const { deliveryId, responseExcerpt } of results) {
            const last = data.deliveries.get(deliveryId)?.attempts.at(-1)
            if (last !== undefined) last.responseExcerpt = responseExcerpt
          }
          return left
        }
      }
    })
  },
  {
    storage: 'erases only the response to the last attempt',
    caughtBy: 'responses to an erased event are erased, and no others',
    breaks: ({ deliveries, data }) => ({
      deliveries: {
        async erase (tenantSlug, subject, transaction) {
          const kept = [...data.deliveries.values()].map(({ attempts }) => attempts.slice(0, -1).map((attempt) => ({ attempt, text: attempt.responseExcerpt })))
          const erased = await deliveries.erase(tenantSlug, subject, transaction)
          for (const { attempt, text } of kept.flat()) attempt.responseExcerpt = text
          return erased
        }
      }
    })
  }
])

type Judge = (body: string, filters: EventFilters) => boolean

const impossible: EventFilters = { 'data.impossible': ['never'] }

/** Sets filters that have the result of `judge`, for the time of a call. */
async function judged<Result> ({ data }: RightStorage, tenant: string, find: (filters: EventFilters) => EventFilters | null, call: () => Promise<Result>): Promise<Result> {
  const webhooks = [...data.tenants.get(tenant)?.webhooks.values() ?? []]
  const kept = webhooks.map(({ filters }) => filters)
  for (const webhook of webhooks) webhook.filters = webhook.filters && find(webhook.filters)
  const called = call()
  for (const [index, webhook] of webhooks.entries()) webhook.filters = kept[index] ?? null
  return called
}

/** Records events for the webhooks that `judge` finds. */
function recordsBy (judge: Judge): Mistake['breaks'] {
  return (right) => ({
    deliveries: {
      record: (tenant, event, transaction) => judged(right, tenant, (filters) => judge(event.body, filters) ? null : impossible,
        () => right.deliveries.record(tenant, event, transaction))
    }
  })
}

const parse = (body: string): unknown => JSON.parse(body === '' ? '{}' : body)

/** Judges by a function that finds the value of a path, and one that compares it. */
function judgeWith (
  find: (body: string, path: string) => unknown,
  isEqual: (found: unknown, value: FilterValue) => boolean = (found, value) => found === value
): Judge {
  return (body, filters) => Object.entries(filters).every(([path, values]) => values.some((value) => isEqual(find(body, path), value)))
}

const getMember = (value: unknown, name: string): unknown => Reflect.get(Object(value), name)
const ownMember = (value: unknown, name: string): unknown => Object.hasOwn(Object(value), name) ? getMember(value, name) : undefined
const isPlain = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value)
const rightMember = (value: unknown, name: string): unknown => isPlain(value) ? ownMember(value, name) : undefined

const findBy = (member: typeof getMember, absent: unknown = null) => (body: string, path: string): unknown =>
  path.split('.').reduce(member, parse(body)) ?? absent

const findRight = findBy(rightMember)

testMistakes([
  {
    storage: 'ignores filters',
    caughtBy: 'an event creates deliveries only for the webhooks whose filters it matches, not even skipped ones',
    breaks: recordsBy(() => true)
  },
  {
    storage: 'wants one of the paths',
    caughtBy: 'every path must lead to one of its values, of the same type',
    breaks: recordsBy((body, filters) => Object.entries(filters).some(([path, values]) => createFilterTest(body)({ [path]: values })))
  },
  {
    storage: 'wants the first of the values',
    caughtBy: 'every path must lead to one of its values, of the same type',
    breaks: recordsBy((body, filters) => createFilterTest(body)(Object.fromEntries(Object.entries(filters).map(([path, values]) => [path, values.slice(0, 1)]))))
  },
  {
    storage: 'compares values as text',
    caughtBy: 'every path must lead to one of its values, of the same type',
    breaks: recordsBy(judgeWith(findRight, (found, value) => !(found instanceof Object) && String(found) === String(value)))
  },
  {
    storage: 'compares numbers by their digits',
    caughtBy: 'every path must lead to one of its values, of the same type',
    breaks: recordsBy((body, filters) => createFilterTest(body.replace(/:1\.0/, ':[]'))(filters))
  },
  {
    storage: 'looks into arrays',
    caughtBy: 'names lead into objects alone, and a path that leads nowhere leads to null',
    breaks: recordsBy(judgeWith(findBy(ownMember)))
  },
  {
    storage: 'looks for a value among the items of an array',
    caughtBy: 'names lead into objects alone, and a path that leads nowhere leads to null',
    breaks: recordsBy(judgeWith(findRight, (found, value) => [found].flat().includes(value)))
  },
  {
    storage: 'does not match null if nothing is there',
    caughtBy: 'names lead into objects alone, and a path that leads nowhere leads to null',
    breaks: recordsBy(judgeWith(findBy(rightMember, 'nothing')))
  },
  {
    storage: 'finds names that the body does not have',
    caughtBy: 'names lead into objects alone, and a path that leads nowhere leads to null',
    breaks: recordsBy(judgeWith(findBy((value, name) => isPlain(value) || typeof value === 'function' ? getMember(value, name) : undefined)))
  },
  {
    storage: 'removes NUL and lone surrogates from bodies',
    caughtBy: 'NUL and lone surrogates in a body are no obstacle, and equal no value',
    breaks: recordsBy((body, filters) => createFilterTest(body.replace(/\\u0000/g, ''))(filters))
  },
  {
    storage: 'reads a body with NUL as an empty one',
    caughtBy: 'NUL and lone surrogates in a body are no obstacle, and equal no value',
    breaks: recordsBy((body, filters) => createFilterTest(body.includes('\\u0000') ? '' : body)(filters))
  },
  {
    storage: 'sorts filters',
    caughtBy: 'a webhook shows its filters in the order they were given',
    breaks: ({ webhooks }) => ({
      webhooks: {
        create: (tenant, { filters = null, ...webhook }, max) =>
          webhooks.create(tenant, { ...webhook, filters: filters && Object.fromEntries(Object.entries(filters).toSorted()) }, max)
      }
    })
  },
  {
    storage: 'loses filters with other changes',
    caughtBy: 'filters stay with other changes, are replaced as a whole, and removed by null',
    breaks: ({ webhooks }) => ({ webhooks: { update: (tenant, id, changes) => webhooks.update(tenant, id, { filters: null, ...changes }) } })
  },
  {
    storage: 'keeps filters when they are removed',
    caughtBy: 'changed filters count for later events, and pending deliveries stay',
    breaks: ({ webhooks }) => ({
      webhooks: { update: (tenant, id, { filters, ...changes }) => webhooks.update(tenant, id, { ...changes, ...filters ? { filters } : {} }) }
    })
  },
  {
    storage: 'replays events that do not match',
    caughtBy: 'a replay and its count obey the filters of that time',
    breaks: (right) => ({
      deliveries: {
        replay: (tenant, id, selection) => judged(right, tenant, () => null, () => right.deliveries.replay(tenant, id, selection)),
        countReplay: (tenant, id, selection) => judged(right, tenant, () => null, () => right.deliveries.countReplay(tenant, id, selection))
      }
    })
  },
  {
    storage: 'filters retries',
    caughtBy: 'a retry ignores the filters',
    breaks: ({ deliveries, webhooks }) => ({
      deliveries: {
        retry: async (tenant, webhookId, id) => {
          const { body = '' } = await deliveries.find(tenant, webhookId, id) ?? {}
          const { filters = null } = await webhooks.find(tenant, webhookId) ?? {}
          return createFilterTest(body)(filters) ? deliveries.retry(tenant, webhookId, id) : null
        }
      }
    })
  }
])
