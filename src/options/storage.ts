import type { AnyRecruitingStorage, EventStorage, Id, RecruitingStorage } from '../ports/index.js'
import { expect } from '../shared/expect.js'

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
    listSecrets: true,
    replaceSecret: true,
    renameTenant: true,
    removeTenant: true
  },
  deliveries: {
    record: true,
    claimDue: true,
    complete: true,
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
    stats: true,
    onDue: true
  }
} satisfies MethodNames<Pick<EventStorage, 'webhooks' | 'deliveries'>>

const changeMethods = {
  changes: { begin: true, list: true, record: true, tokenSecret: true, prune: true, stats: true }
} satisfies MethodNames<Required<Pick<EventStorage, 'changes'>>>

/** Returns a storage of webhooks and deliveries. Throws `invalid_option`, which names a missing method. */
export function readEventStorage (value: unknown, path: string): EventStorage {
  expect(typeof value === 'object' && value !== null, path, 'an object', value)
  assertPorts(value, path, eventMethods)
  if (hasChanges(value)) assertPorts(value, path, changeMethods)
  return value as EventStorage
}

/** Returns a storage of everything, with ids of the kinds that the option `ids` says. Throws `invalid_option`, which names a missing method. */
export function readStorage (value: unknown, path: string): RecruitingStorage<Id, Id, Id, Id> {
  const storage = readEventStorage(value, path)
  assertPorts(storage, path, sourceMethods)
  return storage as RecruitingStorage<Id, Id, Id, Id>
}

function hasChanges (storage: object): boolean {
  return 'changes' in storage && storage.changes !== undefined
}

function assertPorts (storage: object, path: string, ports: Record<string, object>): void {
  for (const [name, methods] of Object.entries(ports)) {
    const port: unknown = Reflect.get(storage, name)
    expect(typeof port === 'object' && port !== null, `${path}.${name}`, 'an object', port)
    for (const method of Object.keys(methods)) {
      const value: unknown = Reflect.get(port, method)
      expect(typeof value === 'function', `${path}.${name}.${method}`, 'a method', value)
    }
  }
}
