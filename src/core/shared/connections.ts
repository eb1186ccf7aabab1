import { RecruitingApiError } from '../errors.js'
import type { Connections, EventStorage } from '../ports/index.js'
import { systemClock } from './clock.js'
import { createPlaces, type Places } from './places.js'

/** The methods of each port that requests call for a tenant. Its id is the first argument. */
const ofRows = ['list', 'count', 'find', 'listAfter', 'findMany']
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
  // Calls that change keys wait for each other without a connection.
  keys: ['list', 'count', 'find', 'selectFamily']
}

const waitMs = 5000
const maxWaiting = 100

// Several storages may share connections.
const known = new WeakMap<Connections, Places>()

/** Returns the places of requests: a fifth of the connections is left for key lookups, deliveries and the host. */
function placesOf (connections: Connections): Places {
  const places = known.get(connections) ?? createPlaces({
    count: Math.max(1, connections.max - Math.ceil(connections.max / 5)),
    waitMs,
    maxWaiting,
    clock: systemClock,
    full: () => new RecruitingApiError(
      'busy', "the tenant's other requests use its share of the storage's connections: try again in 5 seconds"
    )
  })
  known.set(connections, places)
  return places
}

/** Returns a port whose methods for a tenant take one of its places. */
export function shareConnections<Port extends object> (
  port: Port, name: keyof typeof tenantMethods, connections: Connections | undefined
): Port {
  if (connections === undefined) return port
  const { run } = placesOf(connections)
  return new Proxy(port, {
    get (target, property) {
      const method: unknown = Reflect.get(target, property)
      if (typeof method !== 'function') return method
      // Methods of a class need the port as `this`.
      const call = (...args: unknown[]): unknown => Reflect.apply(method, target, args)
      if (!tenantMethods[name].includes(String(property))) return call
      return (...args: unknown[]) => run(String(args[0]), async () => call(...args))
    }
  })
}

/** Returns a storage for requests, in which tenants share the connections. */
export function shareStorage<Storage extends EventStorage> (storage: Storage): Storage {
  const { connections } = storage
  const shared: Record<string, object> = {}
  for (const name of ['candidates', 'jobs', 'changes', 'feed', 'webhooks', 'deliveries'] as const) {
    const port: unknown = Reflect.get(storage, name)
    if (typeof port === 'object' && port !== null) shared[name] = shareConnections(port, name, connections)
  }
  return { ...storage, connections, ...shared }
}
