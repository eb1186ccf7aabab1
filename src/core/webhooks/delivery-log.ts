import type { deliveryOperations } from '../api/deliveries.js'
import type { Performed } from '../api/operation.js'
import type { webhookOperations } from '../api/webhooks.js'
import { InputError } from '../shared/errors.js'
import type {
  Clock, Delivery, DeliveryFilter, DeliverySortField, ReplayResult, ReplaySelection, WebhookStore
} from '../ports/index.js'
import { omitUndefined } from '../shared/fields.js'
import { parsePaging, readPage } from '../shared/paging.js'
import { normalizeInstant } from '../shared/text.js'
import type { History } from './history.js'

interface Parts {
  webhooks: Pick<WebhookStore, 'find'>
  history: History
  clock: Clock
  /** Throws unless each event type is in the catalogue, or a webhook of the tenant subscribes to it. */
  assertUsable (tenantId: string, types: readonly string[]): Promise<void>
}

/** Counting more would take too long. */
const maxLogTotal = 10_000
const maxReplayed = 10_000
const defaultReplayMs = 24 * 60 * 60 * 1000

/** Returns the operations that read a webhook's delivery log, retry its deliveries and replay its events. */
export function createDeliveryOperations (
  { webhooks, history, clock, assertUsable }: Parts
): Performed<typeof deliveryOperations & Pick<typeof webhookOperations, 'replay'>> {
  return {
    async listDeliveries ({ tenant, id: webhookId, input: query }) {
      const page = await readPage<Delivery, DeliveryFilter, DeliverySortField>({
        list: (page) => history.list(tenant.id, webhookId, page),
        count: (filter, options) => history.count(tenant.id, webhookId, filter, options),
        maxTotal: maxLogTotal
      }, parsePaging(query, omitUndefined({
        status: query['filter[status]'],
        eventType: query['filter[event_type]'],
        eventId: query['filter[event_id]']
      })))
      return page.meta.total > 0 || await webhooks.find(tenant.id, webhookId) !== null ? page : null
    },

    findDelivery: ({ tenant, id, deliveryId, omitBody }) => history.find(tenant.id, id, deliveryId, { omitBody }),

    async retryDelivery ({ tenant, id, deliveryId, keep }) {
      const retried = await history.retry(tenant.id, id, deliveryId, keep?.((delivery) => delivery))
      if (retried === null && await history.find(tenant.id, id, deliveryId) !== null) rejectInactive()
      return retried
    },

    /** Queues past events of a webhook again, or counts them. */
    async replay ({ tenant, id, input, keep }) {
      const { include, event_types: eventTypes = null, event_ids: eventIds = null, dry_run: isDryRun } = input
      if (eventTypes !== null) await assertUsable(tenant.id, eventTypes)
      const period = { since: readInstant('since', input.since), until: readInstant('until', input.until) }
      const window = eventIds === null ? fillPeriod(period, clock.now()) : noPeriod(period)
      if (await webhooks.find(tenant.id, id) === null) return null
      const selection: ReplaySelection = {
        include,
        eventTypes,
        eventIds,
        since: window.since,
        // No limit unless the client sets `until`: the storage's clock may be ahead of this process's.
        until: period.until,
        limit: maxReplayed
      }
      const show = (result: ReplayResult) => ({ webhook_id: id, include, ...window, ...result })
      const result = await (isDryRun
        ? history.countReplay(tenant.id, id, selection)
        : history.replay(tenant.id, id, selection, keep?.(show)))
      return show(result ?? rejectInactive())
    }
  }
}

function rejectInactive (): never {
  throw new InputError('', 'the webhook is not active')
}

interface Period {
  since: string | null
  until: string | null
}

function readInstant (field: keyof Period, text: string | undefined): string | null {
  if (text === undefined) return null
  const instant = normalizeInstant(text)
  if (instant !== null) return instant
  throw new InputError(field, 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z')
}

function fillPeriod ({ since, until }: Period, nowMs: number): Period {
  const window = {
    since: since ?? new Date(nowMs - defaultReplayMs).toISOString(),
    until: until ?? new Date(nowMs).toISOString()
  }
  if (window.since > window.until) throw new InputError('since', 'must not be after until')
  return window
}

function noPeriod (period: Period): Period {
  if (period.since === null && period.until === null) return period
  throw new InputError('event_ids', 'must not be combined with since or until')
}
