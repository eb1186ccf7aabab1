import type { AnyRecruitingStorage, EventStorage, Id, RecruitingStorage } from '../ports/index.js'
import { assertOption } from '../shared/read-options.js'

/** Every method of each port, so that the compiler finds a forgotten one. */
type MethodNames<Storage> = { [Part in keyof Storage]: Record<RequiredNames<Storage[Part]>, true> }
type RequiredNames<Port> = { [Name in keyof Port]-?: undefined extends Port[Name] ? never : Name }[keyof Port]

const sourceMethods = {
  candidates: { list: true, count: true, find: true },
  jobs: { list: true, count: true, find: true }
} satisfies MethodNames<Pick<AnyRecruitingStorage, 'candidates' | 'jobs'>>

const eventMethods = {
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
  }
} satisfies MethodNames<Pick<EventStorage, 'webhooks' | 'deliveries'>>

const changeMethods = {
  changes: { begin: true, list: true, record: true, tokenSecret: true, prune: true, stats: true }
} satisfies MethodNames<Required<Pick<EventStorage, 'changes'>>>

const feedMethods = {
  feed: { end: true, list: true, latest: true, stats: true, tokenSecret: true }
} satisfies MethodNames<Required<Pick<EventStorage, 'feed'>>>

const holdMethods = {
  holds: { find: true, adopt: true }
} satisfies MethodNames<Required<Pick<EventStorage, 'holds'>>>

/** Returns a storage of webhooks and deliveries. Throws `invalid_option`, which names a missing method. */
export function readEventStorage (value: unknown, path: string): EventStorage {
  assertOption(typeof value === 'object' && value !== null, path, 'an object', value)
  assertPorts(value, path, eventMethods)
  if (has(value, 'changes')) assertPorts(value, path, changeMethods)
  if (has(value, 'feed')) assertPorts(value, path, feedMethods)
  if (has(value, 'holds')) assertPorts(value, path, holdMethods)
  return value as EventStorage
}

/**
 * Returns a storage of everything, with ids of the kinds that the option `ids` says. Throws `invalid_option`, which
 * names a missing method.
 */
export function readStorage (value: unknown, path: string): RecruitingStorage<Id, Id, Id, Id> {
  const storage = readEventStorage(value, path)
  assertPorts(storage, path, sourceMethods)
  return storage as RecruitingStorage<Id, Id, Id, Id>
}

function has (storage: object, part: keyof EventStorage): boolean {
  return Reflect.get(storage, part) !== undefined
}

function assertPorts (storage: object, path: string, ports: Record<string, object>): void {
  for (const [name, methods] of Object.entries(ports)) {
    const port: unknown = Reflect.get(storage, name)
    assertOption(typeof port === 'object' && port !== null, `${path}.${name}`, 'an object', port)
    for (const method of Object.keys(methods)) {
      const value: unknown = Reflect.get(port, method)
      assertOption(typeof value === 'function', `${path}.${name}.${method}`, 'a method', value)
    }
  }
}
