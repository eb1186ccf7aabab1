import { RecruitingApiError } from './errors.js'
import type { Connections, EventStorage, RowQuery, RowSource } from '../ports/index.js'
import { LruMap } from './cached.js'
import { systemClock } from './clock.js'
import { readBoth } from './paging.js'
import { createPlaces } from './places.js'

/** The methods of each port that requests call for a tenant. Its id is the first argument. */
const ofRows = ['list', 'count', 'page', 'find', 'listAfter', 'findMany']
const tenantMethods = {
  candidates: ofRows,
  jobs: ofRows,
  changes: ['begin', 'list'],
  feed: ['end', 'endBefore', 'find', 'list', 'latest'],
  webhooks: [
    'list', 'count', 'find', 'findHealth', 'findGraceEnd', 'findSecrets', 'findHeaders', 'nextId', 'create', 'update',
    'delete', 'rotateSecret'
  ],
  deliveries: ['list', 'count', 'find', 'replay', 'countReplay', 'retry'],
  idempotency: ['claim', 'save'],
  subscriptions: ['list', 'count', 'find', 'put', 'isVerified', 'end'],
  // Calls that change keys wait for each other without a connection.
  keys: ['list', 'count', 'find', 'selectFamily']
}

const waitMs = 5000
const maxWaiting = 100

/**
 * For a while after a count that took longer, only one of the tenant runs at a time, because counts also need the
 * database's CPU.
 */
const slowCountMs = 50
const slowForMs = 10_000
const maxSlow = 10_000

// Several storages may share connections.
const known = new WeakMap<Connections, ReturnType<typeof createShares>>()

function sharesOf (connections: Connections) {
  const shares = known.get(connections) ?? createShares(connections)
  known.set(connections, shares)
  return shares
}

/**
 * Shares the connections of one pool between the tenants of requests. A fifth of them is left for deliveries and the
 * host.
 */
function createShares ({ max }: Connections) {
  const places = createPlaces({
    count: Math.max(1, max - Math.ceil(max / 5)),
    waitMs,
    maxWaiting,
    clock: systemClock,
    full: () => new RecruitingApiError(
      'busy', "the tenant's other requests use its share of the storage's connections: try again in 5 seconds"
    )
  })
  const slowUntil = new LruMap<number>(maxSlow)
  const counting = new Set<string>()
  const isSlowNow = (tenantId: string): boolean => performance.now() < (slowUntil.get(tenantId) ?? 0)

  async function time<Result> (tenantId: string, work: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      const now = performance.now()
      if (now - startedAt > slowCountMs) slowUntil.set(tenantId, now + slowForMs)
    }
  }

  return {
    run: places.run,

    /** Runs `work` without a place if the tenant gets none in time. */
    async runAnyway<Result> (tenantId: string, work: () => Promise<Result>): Promise<Result> {
      const hasPlace = await places.acquire(tenantId).then(() => true, () => false)
      try {
        return await work()
      } finally {
        if (hasPlace) places.release(tenantId)
      }
    },

    async count<Result> (tenantId: string, work: () => Promise<Result>): Promise<Result> {
      const isSlow = isSlowNow(tenantId)
      const take = (): boolean => {
        if (counting.has(tenantId)) return false
        counting.add(tenantId)
        return true
      }
      await places.acquire(tenantId, isSlow ? { take } : {})
      try {
        return await time(tenantId, work)
      } finally {
        if (isSlow) counting.delete(tenantId)
        places.release(tenantId)
      }
    },

    /** Runs a read of a page with its total, or `apart` if the tenant's counts are slow. */
    page: <Result>(tenantId: string, work: () => Promise<Result>, apart: () => Promise<Result>): Promise<Result> =>
      isSlowNow(tenantId) ? apart() : places.run(tenantId, () => time(tenantId, work))
  }
}

/**
 * Returns a function for calls whose result may be shared. Calls with the same name that arrive while one runs share
 * the next one, which begins after they have arrived.
 */
function createJoint () {
  const running = new Map<string, { ended: Promise<unknown>, next: Promise<unknown> | null }>()

  return function join (name: string, work: () => Promise<unknown>): Promise<unknown> {
    function begin (): Promise<unknown> {
      const result = work()
      const ended = result.catch(() => {}).then(() => { running.delete(name) })
      running.set(name, { ended, next: null })
      return result
    }
    const current = running.get(name)
    if (current === undefined) return begin()
    current.next ??= current.ended.then(begin)
    return current.next
  }
}

/** Runs `work` in a place of the tenant; without `connections`, immediately. */
export function runInPlace<Result> (
  connections: Connections | undefined, tenantId: string, work: () => Promise<Result>
): Promise<Result> {
  return connections === undefined ? work() : sharesOf(connections).run(tenantId, work)
}

const originals = new WeakMap<object, object>()

/** Returns a port whose methods take no places, for calls in a place that the caller holds. */
export function withoutPlaces<Port extends object> (port: Port): Port {
  return (originals.get(port) as Port | undefined) ?? port
}

/** Returns a port whose methods for a tenant take one of its places. */
export function shareConnections<Port extends object> (
  port: Port, name: keyof typeof tenantMethods, connections: Connections | undefined
): Port {
  if (connections === undefined) return port
  const { run, runAnyway, count, page } = sharesOf(connections)
  const join = createJoint()
  const proxy = new Proxy(port, {
    get (target, property, shared) {
      const method: unknown = Reflect.get(target, property)
      if (typeof method !== 'function') return method
      // Methods of a class need the port as `this`.
      const call = (...args: unknown[]): unknown => Reflect.apply(method, target, args)
      if (!tenantMethods[name].includes(String(property))) return call
      return (...args: unknown[]) => {
        const work = async (): Promise<unknown> => call(...args)
        const tenantId = String(args[0])
        if (property === 'count') return join(JSON.stringify(args), () => count(tenantId, work))
        if (property === 'page') {
          const [, query] = args as [string, RowQuery<unknown>]
          const { list, count } = shared as Pick<RowSource<never, unknown, string>, 'list' | 'count'>
          return page(tenantId, work, () => readBoth(() => list(tenantId, query), () => count(tenantId, query.filter)))
        }
        // The work of the request is done.
        return property === 'save' ? runAnyway(tenantId, work) : run(tenantId, work)
      }
    }
  })
  originals.set(proxy, port)
  return proxy
}

const sharing = new WeakMap<EventStorage, object>()

/** Returns a storage for requests, in which tenants share the connections: the same one for each call. */
export function shareStorage<Storage extends EventStorage> (storage: Storage): Storage {
  const earlier = sharing.get(storage) as Storage | undefined
  if (earlier !== undefined) return earlier
  const { connections } = storage
  const shared: Record<string, object> = {}
  const names = [
    'candidates', 'jobs', 'changes', 'feed', 'webhooks', 'deliveries', 'idempotency', 'subscriptions'
  ] as const
  for (const name of names) {
    const port: unknown = Reflect.get(storage, name)
    if (typeof port === 'object' && port !== null) shared[name] = shareConnections(port, name, connections)
  }
  const result = { ...storage, connections, ...shared }
  sharing.set(storage, result)
  return result
}
