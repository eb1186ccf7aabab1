import type { ReplayResult, ReplaySelection } from '../../ports/index.js'
import type { EventRecord, WebhookRecord } from './records.js'
import { addDelivery, findWebhook, notify } from '../webhook-data.js'
import type { WebhookData } from '../webhook-data.js'

/** Queues events for a webhook again. */
export function replay (data: WebhookData, tenantSlug: string, webhookId: number, selection: ReplaySelection): ReplayResult | null {
  const wanted = select(data, tenantSlug, webhookId, selection)
  if (wanted === null) return null

  const { webhook, events } = wanted
  const now = data.now()
  for (const event of events) addDelivery(data, event, webhook, { status: 'pending', isReplay: true, now })
  if (events.length > 0) notify(data)
  return showResult(wanted)
}

/** Returns what `replay` would return. */
export function countReplay (data: WebhookData, tenantSlug: string, webhookId: number, selection: ReplaySelection): ReplayResult | null {
  const wanted = select(data, tenantSlug, webhookId, selection)
  return wanted === null ? null : showResult(wanted)
}

interface Wanted {
  webhook: WebhookRecord
  events: EventRecord[]
  truncated: boolean
}

function select (data: WebhookData, tenantSlug: string, webhookId: number, selection: ReplaySelection): Wanted | null {
  const webhook = findWebhook(data, tenantSlug, webhookId)
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

  return ({ tenantSlug, event, recordedAt }) => {
    if (tenantSlug !== webhook.tenantSlug || !types.includes(event.type)) return false
    if (ids !== null && !ids.has(event.id)) return false
    if (recordedAt < since || recordedAt > until) return false
    const last = webhook.lastDeliveries.get(event.id)?.status
    return include === 'all' ? last !== 'pending' : last === 'failed' || last === 'skipped'
  }
}
