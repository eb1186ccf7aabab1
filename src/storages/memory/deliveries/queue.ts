import type { ClaimedNotice, ClaimOptions, DeliveryStats, HealthNotice } from '../../../core/ports/index.js'
import { SortedQueue } from '../sorting.js'
import { type DeliveryRecord, findLane, isLive, type WebhookRecord } from './records.js'

/** The pending deliveries of all webhooks, with their turns and leases. */
export class PendingDeliveries {
  /** When each suspended tenant was suspended. None of its deliveries is claimed. */
  readonly suspended = new Map<string, number>()
  // Webhooks with deliveries in their lanes.
  readonly #turns = new Turns()
  // The leases that count towards `perEndpoint`: `held` and `stopped` ones.
  readonly #leases = new SortedQueue<DeliveryRecord>((delivery) => delivery.leaseExpiresAt)

  add (delivery: DeliveryRecord): void {
    findLane(delivery).add(delivery)
    this.#turns.add(delivery.webhook)
  }

  remove (delivery: DeliveryRecord): void {
    if (delivery.lease === 'held' || delivery.lease === 'stopped') this.#endLease(delivery)
    else findLane(delivery).remove(delivery)
  }

  /** Removes a delivery that is no longer pending. Its lease stays. */
  stop (delivery: DeliveryRecord): void {
    if (delivery.lease === 'held') delivery.lease = 'stopped'
    else this.remove(delivery)
  }

  /** Makes a pending delivery due now, unless it is leased or already due. */
  hasten (delivery: DeliveryRecord, now: number): void {
    const changes = this.planHaste(delivery, now)
    if (changes === null) return
    this.remove(delivery)
    this.add(Object.assign(delivery, changes))
  }

  /** Returns what `hasten` changes; `null` for nothing. */
  planHaste (
    { isScheduled, nextAttemptAt }: DeliveryRecord, now: number
  ): Pick<DeliveryRecord, 'isScheduled' | 'nextAttemptAt'> | null {
    return isScheduled && nextAttemptAt > now ? { isScheduled: false, nextAttemptAt: now } : null
  }

  stopAll (webhook: WebhookRecord): DeliveryRecord[] {
    const stopped = this.list(webhook)
    for (const delivery of stopped) this.stop(delivery)
    this.#turns.delete(webhook)
    return stopped
  }

  /** Leases due deliveries, one per tenant in turn. */
  claim (options: ClaimOptions, now: number): DeliveryRecord[] {
    this.expireLeases(now)
    const claimed: DeliveryRecord[] = []
    if (options.limit < 1) return claimed

    const { perEndpoint, aheadPerEndpoint = perEndpoint, places } = options
    const own = this.#countOwn(options)
    const held = new Map(places?.heldBy)
    const canLease = (webhook: WebhookRecord): boolean => {
      const { leaseCount, tenant, pausedUntil } = webhook
      if (this.suspended.has(tenant)) return false
      if (places !== undefined && places.free - claimed.length <= (held.get(tenant) ?? 0)) return false
      if (pausedUntil > 0) return leaseCount === 0
      return leaseCount < (leaseCount === (own.get(webhook) ?? 0) ? aheadPerEndpoint : perEndpoint)
    }
    for (const delivery of this.#turns.take((webhook) => canLease(webhook) ? takeDue(webhook, now) : undefined)) {
      const { webhook } = delivery
      this.#lease(delivery, now + options.leaseMs)
      own.set(webhook, (own.get(webhook) ?? 0) + 1)
      held.set(webhook.tenant, (held.get(webhook.tenant) ?? 0) + 1)
      claimed.push(delivery)
      if (claimed.length === options.limit) break
    }
    for (const { webhook } of claimed) if (countWaiting(webhook) === 0) this.#turns.delete(webhook)
    return claimed
  }

  #countOwn ({ leases = [] }: ClaimOptions): Map<WebhookRecord, number> {
    const fences = new Map(leases.map(({ deliveryId, fence }) => [deliveryId, fence]))
    const counts = new Map<WebhookRecord, number>()
    if (fences.size === 0) return counts
    for (const { id, fence, webhook } of this.#leases.toArray()) {
      if (fences.get(id) === fence) counts.set(webhook, (counts.get(webhook) ?? 0) + 1)
    }
    return counts
  }

  /** Moves a tenant's pending deliveries to its new name. Call it before the `tenant` of its webhooks changes. */
  renameTenant (from: string, to: string): void {
    this.#turns.renameTenant(from, to)
  }

  /** Lists a webhook's deliveries, including leased ones. */
  list (webhook: WebhookRecord): DeliveryRecord[] {
    return [...Object.values(webhook.lanes).flatMap((lane) => lane.toArray()), ...this.#leasesOf(webhook)]
  }

  /** Counts a webhook's deliveries, including leased ones. */
  count (webhook: WebhookRecord): number {
    return countWaiting(webhook) + this.#leasesOf(webhook).length
  }

  /** Returns whether a delivery is leased, or can be attempted at `time` or earlier. */
  hasUntil (time: number, now: number): boolean {
    this.expireLeases(now)
    if (this.#listLeased().length > 0) return true
    for (const webhook of this.#turns) {
      if (!this.#isPaused(webhook, time) && earliest(webhook) <= time) return true
    }
    return false
  }

  /** Counts the deliveries of these webhooks, or of all, including leased ones. */
  stats (
    now: number, webhooks?: ReadonlySet<WebhookRecord>
  ): Pick<DeliveryStats, 'pending' | 'due' | 'leased' | 'oldestDueMs'> {
    this.expireLeases(now)
    const leased = this.#listLeased().filter(({ webhook }) => webhooks?.has(webhook) ?? true)
    let pending = leased.length
    let due = leased.length
    let oldest = leased.reduce((time, { nextAttemptAt }) => Math.min(time, nextAttemptAt), now)

    for (const webhook of webhooks ?? this.#turns) {
      pending += countWaiting(webhook)
      if (this.#isPaused(webhook, now)) continue
      due += webhook.lanes.scheduled.countUpTo(now) + countReady(webhook)
      oldest = Math.min(oldest, earliest(webhook))
    }
    return { pending, due, leased: leased.length, oldestDueMs: now - oldest }
  }

  #isPaused ({ tenant, pausedUntil }: WebhookRecord, time: number): boolean {
    return pausedUntil > time || this.suspended.has(tenant)
  }

  #leasesOf (webhook: WebhookRecord): DeliveryRecord[] {
    return this.#listLeased().filter((delivery) => delivery.webhook === webhook)
  }

  #listLeased (): DeliveryRecord[] {
    return this.#leases.toArray().filter(({ lease }) => lease === 'held')
  }

  #lease (delivery: DeliveryRecord, expiresAt: number): void {
    delivery.fence++
    delivery.lease = 'held'
    delivery.leaseExpiresAt = expiresAt
    delivery.webhook.leaseCount++
    this.#leases.add(delivery)
  }

  #endLease (delivery: DeliveryRecord): void {
    this.#leases.remove(delivery)
    delivery.webhook.leaseCount--
  }

  expireLeases (now: number): void {
    for (let next = this.#leases.first; next !== undefined && next.leaseExpiresAt <= now; next = this.#leases.first) {
      this.#endLease(next)
      if (next.lease === 'held') this.add(next)
      next.lease = 'expired'
    }
  }
}

function takeDue (webhook: WebhookRecord, now: number): DeliveryRecord | undefined {
  if (webhook.pausedUntil > now || !isLive(webhook, now)) return undefined
  const { scheduled, first, retry, replay } = webhook.lanes
  while (scheduled.first !== undefined && scheduled.first.nextAttemptAt <= now) promote(scheduled)
  return [first, retry, replay].find((lane) => lane.size > 0)?.shift()
}

function promote (scheduled: SortedQueue<DeliveryRecord>): void {
  const delivery = scheduled.shift()
  if (delivery === undefined) return
  delivery.isScheduled = false
  findLane(delivery).add(delivery)
}

function countWaiting (webhook: WebhookRecord): number {
  return webhook.lanes.scheduled.size + countReady(webhook)
}

function countReady ({ lanes: { first, retry, replay } }: WebhookRecord): number {
  return first.size + retry.size + replay.size
}

function earliest ({ lanes }: WebhookRecord): number {
  return Math.min(...Object.values(lanes).map((lane) =>
    lane.first?.nextAttemptAt ?? Number.POSITIVE_INFINITY))
}

/** Webhooks in the order of their turns: tenants take turns, then each tenant's webhooks. */
class Turns {
  readonly #tenants = new Map<string, Set<WebhookRecord>>()

  add (webhook: WebhookRecord): void {
    const webhooks = this.#tenants.get(webhook.tenant)
    if (webhooks === undefined) this.#tenants.set(webhook.tenant, new Set([webhook]))
    else webhooks.add(webhook)
  }

  delete (webhook: WebhookRecord): void {
    const webhooks = this.#tenants.get(webhook.tenant)
    webhooks?.delete(webhook)
    if (webhooks?.size === 0) this.#tenants.delete(webhook.tenant)
  }

  /** Moves a tenant's webhooks to its new name. Call it before their `tenant` changes. */
  renameTenant (from: string, to: string): void {
    const webhooks = this.#tenants.get(from)
    if (webhooks === undefined) return
    this.#tenants.delete(from)
    this.#tenants.set(to, webhooks)
  }

  * [Symbol.iterator] (): Generator<WebhookRecord> {
    for (const webhooks of this.#tenants.values()) yield * webhooks
  }

  /**
   * Takes one item from a webhook of each tenant in turn, until no webhook has any. The next call continues from there.
   */
  * take<Item> (takeOf: (webhook: WebhookRecord) => Item | undefined): Generator<Item> {
    // After its turn, a tenant or webhook moves to the end, so that these loops visit it again.
    for (const [tenant, webhooks] of this.#tenants) {
      for (const webhook of webhooks) {
        const item = takeOf(webhook)
        if (item === undefined) continue
        webhooks.delete(webhook)
        webhooks.add(webhook)
        this.#tenants.delete(tenant)
        this.#tenants.set(tenant, webhooks)
        yield item
        break
      }
    }
  }
}

interface NoticeRecord {
  notice: HealthNotice
  leasedUntil: number
}

/** Notices that the host has not confirmed yet. */
export class NoticeQueue {
  readonly #notices = new Map<number, NoticeRecord>()
  #lastId = 0

  add (notice: HealthNotice): void {
    this.#notices.set(++this.#lastId, { notice, leasedUntil: 0 })
  }

  claim ({ limit, leaseMs }: { limit: number, leaseMs: number }, now: number): ClaimedNotice[] {
    const free = [...this.#notices].filter(([, { leasedUntil }]) => leasedUntil <= now).slice(0, limit)
    for (const [, record] of free) record.leasedUntil = now + leaseMs
    return free.map(([noticeId, { notice }]) => ({ noticeId, notice: { ...notice } }))
  }

  confirm (noticeId: number): void {
    this.#notices.delete(noticeId)
  }

  clear (): void {
    this.#notices.clear()
  }

  renameTenant (from: string, tenantId: string, tenantSlug: string): void {
    for (const { notice } of this.#notices.values()) {
      if (notice.tenantId === from) Object.assign(notice, { tenantId, tenantSlug })
    }
  }

  removeTenant (tenant: string): void {
    for (const [id, { notice }] of this.#notices) if (notice.tenantId === tenant) this.#notices.delete(id)
  }
}
