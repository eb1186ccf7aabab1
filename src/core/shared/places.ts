import type { Clock } from '../ports/index.js'

interface PlacesOptions {
  count: number
  /** How long a call waits for a place. */
  waitMs: number
  /** How many calls of a tenant wait at a time. Another one rejects immediately. */
  maxWaiting: number
  clock: Clock
  /** Creates the error of a call that gets no place. `hasWaited`: for `waitMs`, otherwise too many others wait. */
  full: (hasWaited: boolean) => Error
}

export interface AcquireOptions {
  /** Takes what else the call needs. Returns `false` if that is not free: then other calls of the tenant go first. */
  take?: () => boolean
  /** Replaces the option. */
  waitMs?: number
}

export type Places = ReturnType<typeof createPlaces>

interface Waiting {
  take: (() => boolean) | undefined
  enter (): void
  reject (error: Error): void
}

/**
 * Shares a number of places between tenants. A tenant takes a place only while more places are free than it holds: one
 * tenant gets half of them, a second one a quarter or more, and a newcomer finds one. Calls that find no place wait,
 * and take turns by tenant.
 */
export function createPlaces ({ count, waitMs: usualMs, maxWaiting, clock, full }: PlacesOptions) {
  const heldBy = new Map<string, number>()
  // In the order of their turns. A tenant without waiting calls has no entry.
  const waiting = new Map<string, Set<Waiting>>()
  let free = count

  function tryAcquire (tenantId: string, take?: () => boolean): boolean {
    const held = heldBy.get(tenantId) ?? 0
    if (free <= held || take?.() === false) return false
    heldBy.set(tenantId, held + 1)
    free--
    return true
  }

  function release (tenantId: string): void {
    const held = heldBy.get(tenantId) ?? 0
    if (held <= 1) heldBy.delete(tenantId)
    else heldBy.set(tenantId, held - 1)
    free++
    serve()
  }

  function serve (): void {
    for (const [tenantId, calls] of free > 0 && waiting.size > 0 ? [...waiting] : []) {
      if (free === 0) return
      const first = [...calls].find(({ take }) => tryAcquire(tenantId, take))
      if (first === undefined) continue
      leaveLine(tenantId, first)
      // The tenant's next call waits for the other tenants.
      if (waiting.delete(tenantId)) waiting.set(tenantId, calls)
      first.enter()
    }
  }

  function leaveLine (tenantId: string, call: Waiting): void {
    const calls = waiting.get(tenantId)
    calls?.delete(call)
    if (calls?.size === 0) waiting.delete(tenantId)
  }

  /** Resolves when the tenant has a place. Rejects with `full` after `waitMs`, or if too many of its calls wait. */
  async function acquire (tenantId: string, { take, waitMs = usualMs }: AcquireOptions = {}): Promise<void> {
    const line = waiting.get(tenantId)
    if ((line === undefined || take !== undefined) && tryAcquire(tenantId, take)) return
    if (line !== undefined && line.size >= maxWaiting) throw full(false)
    const calls = line ?? new Set<Waiting>()
    waiting.set(tenantId, calls)
    let timer: unknown
    await new Promise<void>((resolve, reject) => {
      const call = { take, enter: resolve, reject }
      calls.add(call)
      timer = clock.setTimeout(() => {
        leaveLine(tenantId, call)
        reject(full(true))
      }, waitMs)
    }).finally(() => clock.clearTimeout(timer))
  }

  return {
    get free (): number { return free },
    /** The number of places of each tenant that holds any. */
    heldBy: heldBy as ReadonlyMap<string, number>,
    /** Takes a place for the tenant. Returns `false` if its share is used up. */
    tryAcquire,
    acquire,
    /** Returns a place that `tryAcquire` or `acquire` took. */
    release,

    async run<Result> (tenantId: string, work: () => Promise<Result>): Promise<Result> {
      await acquire(tenantId)
      try {
        return await work()
      } finally {
        release(tenantId)
      }
    },

    /** Rejects all waiting calls with this error. */
    close (error: Error): void {
      for (const calls of [...waiting.values()]) for (const call of calls) call.reject(error)
      waiting.clear()
    }
  }
}
