/** How many attempts may be in flight. */
export interface PlaceLimits {
  /** In this process. */
  concurrency: number
  /** To one endpoint. */
  perEndpoint: number
  /** Whether this process delivers. */
  worker: boolean
}

/**
 * Counts the attempts of this process that are in flight: deliveries and tests together, in all and for each endpoint.
 * The storage bounds the deliveries to an endpoint over all processes; of tests it knows nothing.
 */
export interface Places {
  /** Takes free places of the process for deliveries to be claimed, `most` at most, and returns how many. */
  reserve (most: number): number
  /** Gives back reserved places that no delivery was claimed for. */
  giveBack (count: number): void
  /** Resolves when a delivery that has a place of the process may be sent to its endpoint, or after `abort`. */
  enter (endpoint: string): Promise<void>
  /** Gives back what `enter` took, and the place of the process. */
  leave (endpoint: string): void
  /** Resolves with `true` when a test may be sent, with `false` if there is no place in time or after `abort`. */
  enterTest (endpoint: string, waitMs: number): Promise<boolean>
  /** Gives back what `enterTest` took. */
  leaveTest (endpoint: string): void
  /** Calls the listener, of which there is one, whenever a test has left a place that deliveries may want. */
  onTestLeft (listener: () => void): void
  /** Ends the waiting: deliveries go on, tests do not. */
  abort (): void
}

/** One webhook of one tenant. */
export function formatEndpoint (tenantSlug: string, webhookId: number): string {
  return `${tenantSlug}/${webhookId}`
}

interface Waiting {
  endpoint: string
  end (isIn: boolean): void
}

/** Begins with all places free. */
export function createPlaces ({ concurrency, perEndpoint, worker }: PlaceLimits): Places {
  // Otherwise one tenant could keep all others from being delivered to by tests of endpoints that hang.
  const maxTests = worker ? concurrency - Math.floor(concurrency / 4) : concurrency
  const inFlight = new Map<string, number>()
  const deliveries = new Set<Waiting>()
  const tests = new Set<Waiting>()
  let free = concurrency
  let testCount = 0
  let tellWorker = (): void => {}

  function change (endpoint: string, by: number): void {
    const count = (inFlight.get(endpoint) ?? 0) + by
    if (count === 0) inFlight.delete(endpoint)
    else inFlight.set(endpoint, count)
  }

  function hasRoom (endpoint: string): boolean {
    return (inFlight.get(endpoint) ?? 0) < perEndpoint
  }

  function admit ({ endpoint, end }: Waiting): void {
    change(endpoint, 1)
    end(true)
  }

  /** Deliveries first: they hold leases, which expire. */
  function serve (): void {
    for (const waiting of deliveries) if (hasRoom(waiting.endpoint)) admit(waiting)
    for (const waiting of tests) {
      if (free === 0 || testCount === maxTests) return
      if (!hasRoom(waiting.endpoint)) continue
      free--
      testCount++
      admit(waiting)
    }
  }

  function wait (line: Set<Waiting>, endpoint: string, waitMs?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(end, waitMs, false)
      const waiting = { endpoint, end }
      function end (isIn: boolean): void {
        clearTimeout(timer)
        line.delete(waiting)
        resolve(isIn)
      }
      line.add(waiting)
      serve()
    })
  }

  function leave (endpoint: string): void {
    change(endpoint, -1)
    free++
    serve()
  }

  return {
    reserve (most) {
      const count = Math.min(free, most)
      free -= count
      return count
    },
    giveBack (count) {
      free += count
      serve()
    },
    async enter (endpoint) {
      if (hasRoom(endpoint)) change(endpoint, 1)
      else await wait(deliveries, endpoint)
    },
    leave,
    enterTest: (endpoint, waitMs) => wait(tests, endpoint, waitMs),
    leaveTest (endpoint) {
      testCount--
      leave(endpoint)
      tellWorker()
    },
    onTestLeft (listener) { tellWorker = listener },
    abort () {
      for (const waiting of tests) waiting.end(false)
      for (const waiting of deliveries) admit(waiting)
    }
  }
}
