import { webhookEvents } from '../api/catalogue.js'
import type { deliveryOperations, Explanation } from '../api/deliveries.js'
import type { Performed } from '../api/operation.js'
import type { webhookOperations } from '../api/webhooks.js'
import { InputError } from '../shared/errors.js'
import type {
  Clock, Delivery, DeliveryFilter, DeliverySortField, DeliveryStatus, ReplayResult, ReplaySelection, Webhook,
  WebhookHealth, WebhookStore
} from '../ports/index.js'
import { findMismatch, omitUndefined, parseBody, readField } from '../shared/fields.js'
import { parsePaging, readPage } from '../shared/paging.js'
import { normalizeInstant } from '../shared/text.js'
import type { History } from './history.js'
import type { FindStop } from './sending/send-test.js'

interface Parts {
  webhooks: Pick<WebhookStore, 'find' | 'findHealth'>
  history: History
  clock: Clock
  findStop: FindStop
  /** Throws unless each event type is in the catalogue, or a webhook of the tenant subscribes to it. */
  assertUsable (tenantId: string, types: readonly string[]): Promise<void>
}

/** Counting more would take too long. */
const maxLogTotal = 10_000
const maxReplayed = 10_000
const defaultReplayMs = 24 * 60 * 60 * 1000

/** Returns the operations that read a webhook's delivery log, retry its deliveries and replay its events. */
export function createDeliveryOperations (
  { webhooks, history, clock, findStop, assertUsable }: Parts
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

    async explain ({ tenant, id, input: { event_id: eventId } }) {
      const [webhook, health, stop, body, deliveries] = await Promise.all([
        webhooks.find(tenant.id, id),
        webhooks.findHealth(tenant.id, id),
        findStop(tenant.id),
        history.findEvent?.(tenant.id, eventId) ?? null,
        history.list(tenant.id, id, {
          filter: { eventId }, sort: [{ field: 'id', direction: 'desc' }], offset: 0, limit: 200
        })
      ])
      if (webhook === null || health === null) return null
      const ofStatus = (wanted: DeliveryStatus) => deliveries.find(({ status }) => status === wanted)
      const delivery = ofStatus('delivered') ?? ofStatus('pending') ?? deliveries[0] ?? null
      const event = body === null ? null : parseBody(body)
      const type = delivery?.event_type ?? readField(event, 'type')
      const reason = delivery === null
        ? explainMissing(webhook, event, history.findEvent !== undefined)
        : explainDelivery(delivery, health, stop)
      return {
        event_id: eventId,
        event_type: typeof type === 'string' ? type : null,
        filter: null,
        until: null,
        delivery,
        ...reason
      }
    },

    async retryDelivery ({ tenant, id, deliveryId, keep }) {
      const retried = await history.retry(tenant.id, id, deliveryId, keep?.((delivery) => delivery))
      if (retried === null && await history.find(tenant.id, id, deliveryId) !== null) rejectInactive()
      return retried
    },

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

type Reason = Pick<Explanation, 'reason'> & Partial<Pick<Explanation, 'filter' | 'until'>>

function explainDelivery (
  { status, next_attempt_at: nextAt }: Delivery, { paused_until: pausedUntil }: WebhookHealth,
  stop: Awaited<ReturnType<FindStop>>
): Reason {
  if (status === 'delivered' || status === 'failed') return { reason: status }
  if (status !== 'pending') return { reason: status === 'skipped' ? 'inactive' : 'erased' }
  if (stop !== null) return { reason: stop }
  const isPaused = pausedUntil !== null && nextAt !== null && pausedUntil > nextAt
  return isPaused ? { reason: 'paused', until: pausedUntil } : { reason: 'pending', until: nextAt }
}

/** Explains why there is no delivery. Each check assumes that the ones before it found nothing. */
function explainMissing (webhook: Webhook, event: unknown, hasFeed: boolean): Reason {
  if (!hasFeed) return { reason: 'unknown' }
  if (event === null) return { reason: 'unknown_event' }
  // When it was recorded, which can be long after the event's timestamp.
  const at = Number(readField(event, 'sequence')) / 1000
  if (at < Date.parse(webhook.created_at)) return { reason: 'before_webhook' }
  if (!webhook.event_types.includes(String(readField(event, 'type')))) return { reason: 'not_subscribed' }
  const isHealthEvent = Object.hasOwn(webhookEvents, String(readField(event, 'type')))
  const subject = readField(readField(event, 'data'), 'webhook_id')
  if (isHealthEvent && subject === webhook.id) return { reason: 'about_itself' }
  if (readField(event, 'erased') === true) return { reason: 'erased' }
  const mismatch = findMismatch(event, webhook.filters, webhook.changed)
  if (mismatch !== undefined) return { reason: 'filtered', filter: showMismatch(mismatch) }
  return { reason: at < Date.parse(webhook.updated_at) ? 'changed_since' : 'unknown' }
}

/** Longer text equals no value of a filter. */
const maxShownLength = 255

function showMismatch ({ path, expected, found }: NonNullable<ReturnType<typeof findMismatch>>): Explanation['filter'] {
  const shown = { path, expected }
  if (typeof found === 'string') {
    return { ...shown, value: found.slice(0, maxShownLength).toWellFormed(), value_type: 'string' }
  }
  if (typeof found === 'number') return { ...shown, value: found, value_type: 'number' }
  if (typeof found === 'boolean') return { ...shown, value: found, value_type: 'boolean' }
  const missing = found === undefined ? 'missing' : found === null ? 'null' : null
  return { ...shown, value: null, value_type: missing ?? (Array.isArray(found) ? 'array' : 'object') }
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
