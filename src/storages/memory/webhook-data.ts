import { randomBytes } from 'node:crypto'
import type { DeliveryStatus, DueListener, IdempotentRequest } from '../../core/ports/index.js'
import type { MemoryChanges } from './changes.js'
import { NoticeQueue, PendingDeliveries } from './deliveries/queue.js'
import type { DeliveryRecord, EventRecord, WebhookRecord } from './deliveries/records.js'

/** The webhooks and idempotency keys of one tenant, and the sequence of its last event. */
interface TenantData {
  lastSequence: number
  readonly webhooks: Map<number, WebhookRecord>
  readonly eventsByKey: Map<string, EventRecord>
}

/** The latest attempt of a request. */
export interface IdempotencyRecord extends Pick<IdempotentRequest, 'fingerprint' | 'claim' | 'isAtomic'> {
  tenant: string
  answer: string | null
  leasedUntil: number
  expiresAt: number
}

export interface WebhookData {
  readonly now: () => number
  readonly tenants: Map<string, TenantData>
  /** In the order of recording. */
  readonly events: Map<string, EventRecord>
  readonly deliveries: Map<number, DeliveryRecord>
  readonly pending: PendingDeliveries
  readonly listeners: Set<{ call: DueListener }>
  lastDeliveryId: number
  lastEventPosition: number
  /** The highest position of a pruned event. */
  prunedEventPosition: number
  /** Part of each position. A restarted process has other events, so it rejects the previous one's positions. */
  readonly feedEpoch: string
  /** How often each tenant was renamed or removed, which invalidates the positions of its feed. */
  readonly endedFeeds: Map<string, number>
  /** Notices that the host has not confirmed yet. */
  readonly notices: NoticeQueue
  readonly changes: MemoryChanges
  readonly resting: Map<string, number>
  readonly renamed: Map<string, number>
  /** The environment that the storage belongs to, from the first claim with one. */
  environment: string | null
  readonly otherEnvironments: Map<string, string>
  /** Requests with `Idempotency-Key`, by tenant and digest. */
  readonly requests: Map<string, IdempotencyRecord>
}

export function createWebhookData (now: () => number, changes: MemoryChanges): WebhookData {
  return {
    now,
    tenants: new Map(),
    events: new Map(),
    deliveries: new Map(),
    pending: new PendingDeliveries(),
    listeners: new Set(),
    lastDeliveryId: 0,
    lastEventPosition: 0,
    prunedEventPosition: 0,
    feedEpoch: randomBytes(8).toString('hex'),
    endedFeeds: new Map(),
    notices: new NoticeQueue(),
    changes,
    resting: new Map(),
    renamed: new Map(),
    environment: null,
    otherEnvironments: new Map(),
    requests: new Map()
  }
}

export function openTenant (data: WebhookData, tenant: string): TenantData {
  const own = data.tenants.get(tenant) ?? { lastSequence: 0, webhooks: new Map(), eventsByKey: new Map() }
  data.tenants.set(tenant, own)
  return own
}

export function listWebhooks ({ tenants }: WebhookData, tenant?: string): WebhookRecord[] {
  const listed = tenant === undefined ? [...tenants.values()] : [tenants.get(tenant)]
  return listed.flatMap((own) => [...own?.webhooks.values() ?? []])
}

/** Returns a webhook or subscription of the tenant; `undefined` if there is none with this id. */
export function findWebhook (data: WebhookData, tenant: string, id: number): WebhookRecord | undefined {
  return data.tenants.get(tenant)?.webhooks.get(id)
}

/** Deletes a webhook or subscription. Its pending deliveries become `cancelled`. */
export function deleteWebhook (data: WebhookData, webhook: WebhookRecord): void {
  openTenant(data, webhook.tenant).webhooks.delete(webhook.id)
  webhook.isDeleted = true
  stopDeliveries(data, webhook, 'cancelled')
}

/** Returns the position after the tenant's event with this number. */
export function formatPosition (data: WebhookData, tenant: string, number: number): string {
  return `${data.feedEpoch}.${data.endedFeeds.get(tenant) ?? 0}.${number}`
}

/** Returns the position before a subscription's oldest pending event; without one, the end of what `fill` has read. */
export function findWatermark (data: WebhookData, agent: WebhookRecord): string {
  const pending = data.pending.list(agent).map(({ event }) => event.position - 1)
  return formatPosition(data, agent.tenant, Math.min(agent.subscription?.position ?? 0, ...pending))
}

export function stopDeliveries (data: WebhookData, webhook: WebhookRecord, status: DeliveryStatus): void {
  for (const delivery of data.pending.stopAll(webhook)) delivery.status = status
}

/** Calls the listeners of `onDue`. A failing one does not make the caller's operation fail, which has succeeded. */
export function notify (data: WebhookData): void {
  for (const { call } of [...data.listeners]) {
    new Promise((resolve) => { resolve(call()) }).catch((error) => {
      process.emitWarning(error instanceof Error ? error : String(error))
    })
  }
}
