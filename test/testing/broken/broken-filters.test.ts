import type { EventFilters, FilterValue } from '../../../src/ports/index.js'
import { createFilterTest } from '../../../src/shared/filters.js'
import { type Mistake, type RightStorage, testMistakes } from '../../fixtures/delivery/broken-storage.js'

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
