import type { ClaimOptions, DeliveryStats } from '../../../ports/index.js'
import { findLane } from '../records.js'
import type { DeliveryRecord, WebhookRecord } from '../records.js'
import { SortedQueue } from './sorted-queue.js'
import { Turns } from './turns.js'

/** The pending deliveries of all webhooks: the order of turns, and the leases. */
export class PendingDeliveries {
  // Webhooks with deliveries in their lanes.
  readonly #turns = new Turns()
  readonly #leases = new SortedQueue<DeliveryRecord>((delivery) => delivery.leaseExpiresAt)

  /** Adds a pending delivery that waits for its next attempt. */
  add (delivery: DeliveryRecord): void {
    findLane(delivery).add(delivery)
    this.#turns.add(delivery.webhook)
  }

  /** Removes a waiting or leased delivery. */
  remove (delivery: DeliveryRecord): void {
    if (delivery.lease === 'held') this.#endLease(delivery)
    else findLane(delivery).remove(delivery)
  }

  /** Removes a delivery that is no longer pending. Its lease expires. */
  stop (delivery: DeliveryRecord): void {
    this.remove(delivery)
    if (delivery.lease === 'held') delivery.lease = 'expired'
  }

  /** Makes a pending delivery due now, unless it is leased or already due. */
  hasten (delivery: DeliveryRecord, now: number): void {
    if (!delivery.isScheduled || delivery.nextAttemptAt <= now) return
    this.remove(delivery)
    delivery.isScheduled = false
    delivery.nextAttemptAt = now
    this.add(delivery)
  }

  /** Stops all deliveries of a webhook and returns them. */
  stopAll (webhook: WebhookRecord): DeliveryRecord[] {
    const { scheduled, first, retry, replay } = webhook.lanes
    const held = this.#leases.toArray().filter((delivery) => delivery.webhook === webhook)
    const stopped = [...scheduled.toArray(), ...first.toArray(), ...retry.toArray(), ...replay.toArray(), ...held]
    for (const delivery of stopped) this.stop(delivery)
    this.#turns.delete(webhook)
    return stopped
  }

  /** Leases due deliveries, one of each tenant in turn. */
  claim ({ limit, perEndpoint, leaseMs }: ClaimOptions, now: number): DeliveryRecord[] {
    this.#expireLeases(now)
    const claimed: DeliveryRecord[] = []
    if (limit < 1) return claimed

    const turns = this.#turns.take((webhook) => webhook.leaseCount < perEndpoint ? takeDue(webhook, now) : undefined)
    for (const delivery of turns) {
      this.#lease(delivery, now + leaseMs)
      claimed.push(delivery)
      if (claimed.length === limit) break
    }
    for (const { webhook } of claimed) if (!hasWaiting(webhook)) this.#turns.delete(webhook)
    return claimed
  }

  /** Moves what a tenant has pending to its new name, before the `tenant` of its webhooks changes. */
  renameTenant (from: string, to: string): void {
    this.#turns.renameTenant(from, to)
  }

  /** Counts the deliveries of a webhook, leased ones included. */
  count (webhook: WebhookRecord): number {
    const leased = this.#leases.toArray().filter((delivery) => delivery.webhook === webhook)
    return webhook.lanes.scheduled.size + countReady(webhook) + leased.length
  }

  /** Returns whether a delivery is leased, or can be attempted at `time` or earlier. */
  hasUntil (time: number, now: number): boolean {
    this.#expireLeases(now)
    if (this.#leases.size > 0) return true
    for (const webhook of this.#turns) {
      if (webhook.pausedUntil <= time && earliest(webhook) <= time) return true
    }
    return false
  }

  stats (now: number): DeliveryStats {
    this.#expireLeases(now)
    const leased = this.#leases.toArray()
    let pending = leased.length
    let due = leased.length
    let oldest = leased.reduce((time, { nextAttemptAt }) => Math.min(time, nextAttemptAt), now)

    for (const webhook of this.#turns) {
      const { scheduled } = webhook.lanes
      pending += scheduled.size + countReady(webhook)
      if (webhook.pausedUntil > now) continue
      due += scheduled.countUpTo(now) + countReady(webhook)
      oldest = Math.min(oldest, earliest(webhook))
    }
    return { pending, due, leased: leased.length, oldestDueMs: now - oldest, atLeast: { pending: false, due: false } }
  }

  /** Counts the deliveries of some webhooks, leased ones included. */
  tenantStats (webhooks: ReadonlySet<WebhookRecord>, now: number): { pending: number, oldestDueMs: number } {
    this.#expireLeases(now)
    const leased = this.#leases.toArray().filter(({ webhook }) => webhooks.has(webhook))
    let pending = leased.length
    let oldest = leased.reduce((time, { nextAttemptAt }) => Math.min(time, nextAttemptAt), now)

    for (const webhook of webhooks) {
      pending += webhook.lanes.scheduled.size + countReady(webhook)
      if (webhook.pausedUntil <= now) oldest = Math.min(oldest, earliest(webhook))
    }
    return { pending, oldestDueMs: now - oldest }
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

  #expireLeases (now: number): void {
    for (let next = this.#leases.first; next !== undefined && next.leaseExpiresAt <= now; next = this.#leases.first) {
      this.#endLease(next)
      next.lease = 'expired'
      this.add(next)
    }
  }
}

function takeDue (webhook: WebhookRecord, now: number): DeliveryRecord | undefined {
  if (webhook.pausedUntil > now) return undefined
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

function hasWaiting (webhook: WebhookRecord): boolean {
  return webhook.lanes.scheduled.size + countReady(webhook) > 0
}

function countReady ({ lanes: { first, retry, replay } }: WebhookRecord): number {
  return first.size + retry.size + replay.size
}

function earliest ({ lanes: { scheduled, first, retry, replay } }: WebhookRecord): number {
  return Math.min(
    ...[scheduled, first, retry, replay].map((lane) => lane.first?.nextAttemptAt ?? Number.POSITIVE_INFINITY)
  )
}
