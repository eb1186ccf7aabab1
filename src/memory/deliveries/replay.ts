import type { Delivery, ReplayResult, ReplaySelection } from '../../ports/index.js'
import { createFilterTest } from '../../shared/filters.js'
import { addDelivery, findWebhook, notify, type WebhookData } from '../webhook-data.js'
import { showDelivery } from './log.js'
import type { EventRecord, WebhookRecord } from './records.js'

/** Queues events for a webhook again. */
export function replay (
  data: WebhookData,
  tenant: string,
  webhookId: number,
  selection: ReplaySelection
): ReplayResult | null {
  const wanted = select(data, tenant, webhookId, selection)
  if (wanted === null) return null

  const { webhook, events } = wanted
  const now = data.now()
  for (const event of events) addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
  if (events.length > 0) notify(data)
  return showResult(wanted)
}

/** Returns what `replay` would return. */
export function countReplay (
  data: WebhookData,
  tenant: string,
  webhookId: number,
  selection: ReplaySelection
): ReplayResult | null {
  const wanted = select(data, tenant, webhookId, selection)
  return wanted === null ? null : showResult(wanted)
}

interface Wanted {
  webhook: WebhookRecord
  events: EventRecord[]
  truncated: boolean
}

function select (data: WebhookData, tenant: string, webhookId: number, selection: ReplaySelection): Wanted | null {
  const webhook = findWebhook(data, tenant, webhookId)
  if (webhook?.status !== 'active') return null
  const events = [...data.events.values()].filter(createSelectionTest(webhook, selection))
  return { webhook, events: events.slice(0, selection.limit), truncated: events.length > selection.limit }
}

function showResult ({ events, truncated }: Wanted): ReplayResult {
  return { queued: events.length, truncated }
}

function createSelectionTest (webhook: WebhookRecord, selection: ReplaySelection): (event: EventRecord) => boolean {
  const { include, eventTypes } = selection
  const ids = selection.eventIds === null ? null : new Set(selection.eventIds)
  const types = webhook.eventTypes.filter((type) => eventTypes === null || eventTypes.includes(type))
  const since = selection.since === null ? Number.NEGATIVE_INFINITY : Date.parse(selection.since)
  const until = selection.until === null ? Number.POSITIVE_INFINITY : Date.parse(selection.until)

  return ({ tenant, event, recordedAt }) => {
    if (tenant !== webhook.tenant || !types.includes(event.type)) return false
    if (ids !== null && !ids.has(event.id)) return false
    if (recordedAt < since || recordedAt > until) return false
    const last = webhook.lastDeliveries.get(event.id)?.status
    const isWanted = include === 'all' ? last !== 'pending' : last === 'failed' || last === 'skipped'
    return isWanted && createFilterTest(event.body)(webhook.filters)
  }
}

/** Makes a delivery due now, or queues its event again. */
export function retry (data: WebhookData, tenant: string, webhookId: number, id: number): Delivery | null {
  const webhook = findWebhook(data, tenant, webhookId)
  const delivery = data.deliveries.get(id)
  if (webhook?.status !== 'active' || delivery?.webhook !== webhook) return null

  const { event } = delivery
  const now = data.now()
  const last = webhook.lastDeliveries.get(event.event.id)
  const retried =
    last?.status === 'pending' ? last : addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
  data.pending.hasten(retried, now)
  notify(data)
  return showDelivery(retried)
}
