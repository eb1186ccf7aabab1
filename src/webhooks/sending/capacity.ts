import type { Clock } from '../../ports/index.js'
import type { DeliverySettings } from '../../options/options.js'

type CapacityLimits = Pick<DeliverySettings, 'concurrency' | 'perEndpoint' | 'worker'>

export function formatWebhookKey (tenantId: string, webhookId: number): string {
  return `${tenantId}/${webhookId}`
}

interface Waiting {
  webhook: string
  end (isAcquired: boolean): void
}

export type Capacity = ReturnType<typeof createCapacity>

/**
 * Limits this process's attempts in flight, deliveries and tests together, in total and per webhook. The storage limits
 * the deliveries to a webhook across all processes, but does not see tests.
 */
export function createCapacity ({ concurrency, perEndpoint, worker }: CapacityLimits, clock: Clock) {
  // A quarter is reserved for deliveries: tests of hanging endpoints must not block them.
  const maxTests = worker ? concurrency - Math.floor(concurrency / 4) : concurrency
  const inFlight = new Map<string, number>()
  const deliveries = new Set<Waiting>()
  const tests = new Set<Waiting>()
  let free = concurrency
  let testCount = 0
  let onTestReleased = (): void => {}

  function change (webhook: string, by: number): void {
    const count = (inFlight.get(webhook) ?? 0) + by
    if (count === 0) inFlight.delete(webhook)
    else inFlight.set(webhook, count)
  }

  function isFree (webhook: string): boolean {
    return (inFlight.get(webhook) ?? 0) < perEndpoint
  }

  function admit ({ webhook, end }: Waiting): void {
    change(webhook, 1)
    end(true)
  }

  /** Serves deliveries first: their leases expire. */
  function serve (): void {
    for (const waiting of deliveries) if (isFree(waiting.webhook)) admit(waiting)
    for (const waiting of tests) {
      if (free === 0 || testCount === maxTests) return
      if (!isFree(waiting.webhook)) continue
      free--
      testCount++
      admit(waiting)
    }
  }

  function wait (line: Set<Waiting>, webhook: string, waitMs?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : clock.setTimeout(() => end(false), waitMs)
      const waiting = { webhook, end }
      function end (isAcquired: boolean): void {
        clock.clearTimeout(timer)
        line.delete(waiting)
        resolve(isAcquired)
      }
      line.add(waiting)
      serve()
    })
  }

  /** Releases the webhook and the slot of the process. */
  function releaseWebhook (webhook: string): void {
    change(webhook, -1)
    free++
    serve()
  }

  return {
    /** Acquires up to `most` slots of the process, for deliveries to claim. Returns their number. */
    acquire (most: number): number {
      const count = Math.min(free, most)
      free -= count
      return count
    },
    /** Releases slots that no delivery was claimed for. */
    release (count: number): void {
      free += count
      serve()
    },
    /** Acquires the webhook for a delivery that has a slot. Resolves when it is free, or after `abort`. */
    async acquireWebhook (webhook: string): Promise<void> {
      if (isFree(webhook)) change(webhook, 1)
      else await wait(deliveries, webhook)
    },
    releaseWebhook,
    /** Acquires a webhook and a slot for a test. Returns `false` after `waitMs` or `abort`. */
    acquireTest: (webhook: string, waitMs: number) => wait(tests, webhook, waitMs),
    /** Releases what `acquireTest` acquired. */
    releaseTest (webhook: string): void {
      testCount--
      releaseWebhook(webhook)
      onTestReleased()
    },
    /** Sets the only listener, which is called when a test has released its slot. */
    onTestReleased (listener: () => void): void { onTestReleased = listener },
    /** Ends all waits: deliveries continue, tests do not. */
    abort (): void {
      for (const waiting of tests) waiting.end(false)
      for (const waiting of deliveries) admit(waiting)
    }
  }
}
