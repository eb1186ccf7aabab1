import type { DeliveryStatus, DueListener, IdempotentRequest } from '../../core/ports/index.js'
import type { MemoryChanges } from './changes.js'
import { NoticeQueue, PendingDeliveries } from './deliveries/queue.js'
import type { DeliveryRecord, EventRecord, WebhookRecord } from './deliveries/records.js'

/** The webhooks and idempotency keys of one tenant. */
interface TenantData {
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

/** The data that the webhook store and the delivery store share. */
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
  /** How often each tenant was renamed or removed, which invalidates the positions of its feed. */
  readonly endedFeeds: Map<string, number>
  /** Notices that the host has not confirmed yet. */
  readonly notices: NoticeQueue
  readonly changes: MemoryChanges
  /** When each resting tenant's rest ends. */
  readonly resting: Map<string, number>
  /** The environment that the storage belongs to, from the first claim with one. */
  environment: string | null
  /** When each other environment was first seen. */
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
    endedFeeds: new Map(),
    notices: new NoticeQueue(),
    changes,
    resting: new Map(),
    environment: null,
    otherEnvironments: new Map(),
    requests: new Map()
  }
}

/** Returns the data of a tenant, and creates it if it does not exist. */
export function openTenant (data: WebhookData, tenant: string): TenantData {
  const own = data.tenants.get(tenant) ?? { webhooks: new Map(), eventsByKey: new Map() }
  data.tenants.set(tenant, own)
  return own
}

/** Returns the webhooks of a tenant, or of all. */
export function listWebhooks ({ tenants }: WebhookData, tenant?: string): WebhookRecord[] {
  const listed = tenant === undefined ? [...tenants.values()] : [tenants.get(tenant)]
  return listed.flatMap((own) => [...own?.webhooks.values() ?? []])
}

/** Returns a webhook of the tenant; `undefined` if there is none with this id. */
export function findWebhook (data: WebhookData, tenant: string, id: number): WebhookRecord | undefined {
  return data.tenants.get(tenant)?.webhooks.get(id)
}

/** Ends all pending deliveries of a webhook with this status. */
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
