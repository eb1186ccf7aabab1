import type { ClaimOptions, DeliveryStats } from '../ports/index.js'
import { findLane } from './records.js'
import type { DeliveryRecord, WebhookRecord } from './records.js'
import { SortedQueue } from './sorted-queue.js'

/** The pending deliveries of all webhooks: whose turn it is, and who holds what. */
export class PendingDeliveries {
  // Webhooks with deliveries in their lanes, the one whose turn it is first.
  readonly #turns = new Set<WebhookRecord>()
  readonly #leases = new SortedQueue<DeliveryRecord>((delivery) => delivery.leaseExpiresAt)

  /** Lets a pending delivery wait for its next attempt. */
  add (delivery: DeliveryRecord): void {
    findLane(delivery).add(delivery)
    this.#turns.add(delivery.webhook)
  }

  /** Takes out a delivery that waits or is leased. */
  remove (delivery: DeliveryRecord): void {
    if (delivery.lease === 'held') this.#endLease(delivery)
    else findLane(delivery).remove(delivery)
  }

  /** Takes out a delivery that has stopped being pending. A lease of it lapses. */
  stop (delivery: DeliveryRecord): void {
    this.remove(delivery)
    if (delivery.lease === 'held') delivery.lease = 'lapsed'
  }

  /** Stops all deliveries of a webhook, and returns them. */
  stopAll (webhook: WebhookRecord): DeliveryRecord[] {
    const { first, retry, replay } = webhook.lanes
    const held = this.#leases.toArray().filter((delivery) => delivery.webhook === webhook)
    const stopped = [...first.toArray(), ...retry.toArray(), ...replay.toArray(), ...held]
    for (const delivery of stopped) this.stop(delivery)
    this.#turns.delete(webhook)
    return stopped
  }

  /** Leases what is due, one delivery of each webhook in turn. The next call goes on where this one stopped. */
  claim ({ limit, perEndpoint, leaseMs }: ClaimOptions, now: number): DeliveryRecord[] {
    this.#expireLeases(now)
    const claimed: DeliveryRecord[] = []

    // A webhook that had its turn goes to the end, where this very loop comes by it again.
    for (const webhook of this.#turns) {
      if (claimed.length === limit) break
      const delivery = webhook.leaseCount < perEndpoint ? takeDue(webhook, now) : undefined
      if (delivery === undefined) continue
      this.#lease(delivery, now + leaseMs)
      claimed.push(delivery)
      this.#turns.delete(webhook)
      if (hasWaiting(webhook)) this.#turns.add(webhook)
    }
    return claimed
  }

  /** Whether something is leased, or can be attempted at `time` or before. */
  hasUntil (time: number, now: number): boolean {
    this.#expireLeases(now)
    if (this.#leases.size > 0) return true
    for (const webhook of this.#turns) {
      if (webhook.heldUntil <= time && earliest(webhook) <= time) return true
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
      const { first, retry, replay } = webhook.lanes
      pending += first.size + retry.size + replay.size
      if (webhook.heldUntil > now) continue
      due += first.countUpTo(now) + retry.countUpTo(now) + replay.countUpTo(now)
      oldest = Math.min(oldest, earliest(webhook))
    }
    return { pending, due, leased: leased.length, oldestDueMs: now - oldest }
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
      next.lease = 'lapsed'
      this.add(next)
    }
  }
}

function takeDue (webhook: WebhookRecord, now: number): DeliveryRecord | undefined {
  if (webhook.heldUntil > now) return undefined
  const { first, retry, replay } = webhook.lanes
  return [first, retry, replay].find((lane) => isDue(lane, now))?.shift()
}

function isDue (lane: SortedQueue<DeliveryRecord>, now: number): boolean {
  return lane.first !== undefined && lane.first.nextAttemptAt <= now
}

function hasWaiting ({ lanes: { first, retry, replay } }: WebhookRecord): boolean {
  return first.size + retry.size + replay.size > 0
}

function earliest ({ lanes: { first, retry, replay } }: WebhookRecord): number {
  return Math.min(...[first, retry, replay].map((lane) => lane.first?.nextAttemptAt ?? Number.POSITIVE_INFINITY))
}
