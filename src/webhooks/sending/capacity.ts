/** How many attempts may be in flight. */
export interface CapacityLimits {
  /** In this process. */
  concurrency: number
  /** To one endpoint. */
  perEndpoint: number
  /** Whether this process delivers. */
  worker: boolean
}

/**
 * Bounds the attempts of this process that are in flight, deliveries and tests together, in all and for each endpoint.
 * Storage bounds the deliveries to an endpoint over all processes, but does not know of tests.
 */
export interface Capacity {
  /** Acquires slots of the process for deliveries to be claimed: up to `most`. Returns how many. */
  acquire (most: number): number
  /** Releases slots that no delivery was claimed for. */
  release (count: number): void
  /** Acquires the endpoint for a delivery that has a slot of the process. Resolves when it is free, or after `abort`. */
  acquireEndpoint (endpoint: string): Promise<void>
  /** Releases the endpoint and the slot of the process. */
  releaseEndpoint (endpoint: string): void
  /** Acquires an endpoint and a slot for a test. Resolves with `false` if they are not free in time, or after `abort`. */
  acquireTest (endpoint: string, waitMs: number): Promise<boolean>
  /** Releases what `acquireTest` acquired. */
  releaseTest (endpoint: string): void
  /** Sets the one listener that is called when a test has released a slot. */
  onTestReleased (listener: () => void): void
  /** Ends all waiting: deliveries go on, tests do not. */
  abort (): void
}

/** Names a webhook of a tenant. */
export function formatEndpoint (tenantSlug: string, webhookId: number): string {
  return `${tenantSlug}/${webhookId}`
}

interface Waiting {
  endpoint: string
  end (isAcquired: boolean): void
}

/** Begins with every slot free. */
export function createCapacity ({ concurrency, perEndpoint, worker }: CapacityLimits): Capacity {
  // A quarter is for deliveries alone: tests of endpoints that hang must not stop them.
  const maxTests = worker ? concurrency - Math.floor(concurrency / 4) : concurrency
  const inFlight = new Map<string, number>()
  const deliveries = new Set<Waiting>()
  const tests = new Set<Waiting>()
  let free = concurrency
  let testCount = 0
  let onTestReleased = (): void => {}

  function change (endpoint: string, by: number): void {
    const count = (inFlight.get(endpoint) ?? 0) + by
    if (count === 0) inFlight.delete(endpoint)
    else inFlight.set(endpoint, count)
  }

  function isFree (endpoint: string): boolean {
    return (inFlight.get(endpoint) ?? 0) < perEndpoint
  }

  function admit ({ endpoint, end }: Waiting): void {
    change(endpoint, 1)
    end(true)
  }

  /** Serves deliveries first: their leases expire. */
  function serve (): void {
    for (const waiting of deliveries) if (isFree(waiting.endpoint)) admit(waiting)
    for (const waiting of tests) {
      if (free === 0 || testCount === maxTests) return
      if (!isFree(waiting.endpoint)) continue
      free--
      testCount++
      admit(waiting)
    }
  }

  function wait (line: Set<Waiting>, endpoint: string, waitMs?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(end, waitMs, false)
      const waiting = { endpoint, end }
      function end (isAcquired: boolean): void {
        clearTimeout(timer)
        line.delete(waiting)
        resolve(isAcquired)
      }
      line.add(waiting)
      serve()
    })
  }

  function releaseEndpoint (endpoint: string): void {
    change(endpoint, -1)
    free++
    serve()
  }

  return {
    acquire (most) {
      const count = Math.min(free, most)
      free -= count
      return count
    },
    release (count) {
      free += count
      serve()
    },
    async acquireEndpoint (endpoint) {
      if (isFree(endpoint)) change(endpoint, 1)
      else await wait(deliveries, endpoint)
    },
    releaseEndpoint,
    acquireTest: (endpoint, waitMs) => wait(tests, endpoint, waitMs),
    releaseTest (endpoint) {
      testCount--
      releaseEndpoint(endpoint)
      onTestReleased()
    },
    onTestReleased (listener) { onTestReleased = listener },
    abort () {
      for (const waiting of tests) waiting.end(false)
      for (const waiting of deliveries) admit(waiting)
    }
  }
}
