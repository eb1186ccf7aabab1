import { RecruitingApiError } from '../../shared/errors.js'
import type { DeliverySettings } from '../options.js'
import type { Clock } from '../../ports/index.js'
import { createPlaces } from '../../shared/places.js'

type CapacityLimits = Pick<DeliverySettings, 'concurrency' | 'perEndpoint' | 'worker'>

export function formatWebhookKey (tenantId: string, webhookId: number): string {
  return `${tenantId}/${webhookId}`
}

export type Capacity = ReturnType<typeof createCapacity>

const maxWaitingTests = 50

/**
 * Limits this process's attempts in flight, deliveries and tests together: in total, by tenant and by webhook. The
 * storage limits the deliveries to a webhook across all processes, but does not see tests.
 */
export function createCapacity ({ concurrency, perEndpoint, worker }: CapacityLimits, clock: Clock) {
  // A quarter is reserved for deliveries: tests of hanging endpoints must not block them.
  const maxTests = worker ? concurrency - Math.floor(concurrency / 4) : concurrency
  const tooLate = new Error('no place became free')
  const places = createPlaces({
    count: concurrency,
    waitMs: 0,
    maxWaiting: maxWaitingTests,
    clock,
    full: (hasWaited) => hasWaited
      ? tooLate
      : new RecruitingApiError('busy', "too many of the tenant's tests wait: try again in 5 seconds")
  })
  // By webhook. A tenant may be renamed during an attempt.
  const inFlight = new Map<number, number>()
  let testCount = 0
  let isWanted = (_tenantId: string, _webhookId: number): boolean => false
  let onTestReleased = (): void => {}

  function take (webhookId: number): boolean {
    const count = inFlight.get(webhookId) ?? 0
    if (count >= perEndpoint) return false
    inFlight.set(webhookId, count + 1)
    return true
  }

  function release (tenantId: string, webhookId: number): void {
    const count = inFlight.get(webhookId) ?? 0
    if (count <= 1) inFlight.delete(webhookId)
    else inFlight.set(webhookId, count - 1)
    places.release(tenantId)
  }

  return {
    get free (): number { return places.free },
    heldBy: places.heldBy,
    /** Returns whether the tenant can take a place. */
    hasShare: (tenantId: string): boolean => places.free > (places.heldBy.get(tenantId) ?? 0),
    /** Takes a place for a delivery. Returns `false` if the webhook has no room, or the tenant's share is used up. */
    tryAcquire: (tenantId: string, webhookId: number): boolean => places.tryAcquire(tenantId, () => take(webhookId)),
    release,

    /** Takes a place for a test; `false` after `waitMs` or `abort`. Rejects with `busy` if too many tests wait. */
    async acquireTest (tenantId: string, webhookId: number, waitMs: number): Promise<boolean> {
      const takeTest = (): boolean => {
        if (testCount === maxTests || isWanted(tenantId, webhookId) || !take(webhookId)) return false
        testCount++
        return true
      }
      try {
        await places.acquire(tenantId, { take: takeTest, waitMs })
        return true
      } catch (error) {
        if (error === tooLate) return false
        throw error
      }
    },
    releaseTest (tenantId: string, webhookId: number): void {
      testCount--
      release(tenantId, webhookId)
      onTestReleased()
    },
    /**
     * Sets the only worker. Tests let its deliveries to their webhook go first, because leases expire. `onTestReleased`
     * is called when a test has released its place.
     */
    setWorker (parts: { isWanted: typeof isWanted, onTestReleased: () => void }): void {
      ({ isWanted, onTestReleased } = parts)
    },
    abort (): void {
      places.close(tooLate)
    }
  }
}
