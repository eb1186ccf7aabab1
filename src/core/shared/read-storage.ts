import type { AnyRecruitingStorage, EventStorage, Id, RecruitingStorage } from '../ports/index.js'
import { assertOption, integer } from './read-options.js'

/** Every required method of each port, so that the compiler finds a forgotten one. */
const methods = {
  webhooks: {
    list: true,
    count: true,
    find: true,
    findHealth: true,
    listFailing: true,
    nextId: true,
    create: true,
    update: true,
    delete: true,
    rotateSecret: true,
    findSecrets: true,
    findHeaders: true,
    findGraceEnd: true,
    listSecrets: true,
    replaceSecret: true,
    renameTenant: true,
    removeTenant: true,
    listResting: true
  },
  deliveries: {
    record: true,
    claimDue: true,
    recordAttempts: true,
    recordAndClaim: true,
    claimNotices: true,
    confirmNotice: true,
    release: true,
    hasPending: true,
    list: true,
    count: true,
    find: true,
    replay: true,
    countReplay: true,
    retry: true,
    prune: true,
    erase: true,
    listSubjectEvents: true,
    stats: true,
    tenantStats: true,
    onDue: true
  },
  changes: { begin: true, list: true, record: true, tokenSecret: true, prune: true, stats: true },
  feed: { end: true, endBefore: true, find: true, list: true, latest: true, stats: true, tokenSecret: true },
  holds: { find: true, adopt: true },
  idempotency: { claim: true, renew: true, save: true },
  candidates: { list: true, count: true, find: true },
  jobs: { list: true, count: true, find: true }
} satisfies MethodNames<Required<Omit<AnyRecruitingStorage, 'verify' | 'connections'>>>

type MethodNames<Storage> = { [Part in keyof Storage]: Record<RequiredNames<Storage[Part]>, true> }

type RequiredNames<Port> = { [Name in keyof Port]-?: undefined extends Port[Name] ? never : Name }[keyof Port]

const readMax = integer(1, 100_000)

/** Checks a storage of webhooks and deliveries. Throws `invalid_option` for a missing method. */
export function readEventStorage (value: unknown, path: string): EventStorage {
  assertOption(typeof value === 'object' && value !== null, path, 'an object', value)
  for (const name of ['webhooks', 'deliveries'] as const) assertPort(value, path, name)
  for (const name of ['changes', 'feed', 'holds', 'idempotency'] as const) {
    if (Reflect.get(value, name) !== undefined) assertPort(value, path, name)
  }
  const { connections } = value as EventStorage
  if (connections !== undefined) readMax(connections.max, `${path}.connections.max`)
  return value as EventStorage
}

/** Checks a storage with candidates and jobs. Throws `invalid_option` for a missing method. */
export function readStorage (value: unknown, path: string): RecruitingStorage<Id, Id, Id, Id> {
  const storage = readEventStorage(value, path)
  for (const name of ['candidates', 'jobs'] as const) assertPort(storage, path, name)
  return storage as RecruitingStorage<Id, Id, Id, Id>
}

function assertPort (storage: object, path: string, name: keyof typeof methods): void {
  const port: unknown = Reflect.get(storage, name)
  assertOption(typeof port === 'object' && port !== null, `${path}.${name}`, 'an object', port)
  for (const method of Object.keys(methods[name])) {
    const value: unknown = Reflect.get(port, method)
    assertOption(typeof value === 'function', `${path}.${name}.${method}`, 'a method', value)
  }
}
