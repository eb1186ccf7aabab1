import type { AnyRecruitingStorage, EventStorage, Id, RecruitingStorage } from '../ports/index.js'
import { assertOption, integer } from './read-options.js'

type RequiredNames<Port> = { [Name in keyof Port]-?: undefined extends Port[Name] ? never : Name }[keyof Port] & string

/** Lists the required methods of a port. The compiler rejects a list that lacks one. */
function required<Port> () {
  return <Name extends RequiredNames<Port>>(
    ...names: [RequiredNames<Port>] extends [Name] ? Name[] : never
  ): readonly string[] => names
}

type Storage = Required<AnyRecruitingStorage>

const methods = {
  webhooks: required<Storage['webhooks']>()(
    'list', 'count', 'find', 'findHealth', 'listFailing', 'nextId', 'create', 'update', 'delete', 'rotateSecret',
    'findSecrets', 'findHeaders', 'findGraceEnd', 'listSecrets', 'replaceSecret', 'renameTenant', 'removeTenant',
    'suspendTenant', 'resumeTenant', 'listStates'
  ),
  deliveries: required<Storage['deliveries']>()(
    'record', 'claimDue', 'recordAttempts', 'recordAndClaim', 'claimNotices', 'confirmNotice', 'release', 'hasPending',
    'list', 'count', 'find', 'replay', 'countReplay', 'retry', 'prune', 'erase', 'listSubjectEvents', 'stats',
    'tenantStats', 'onDue'
  ),
  changes: required<Storage['changes']>()('begin', 'list', 'record', 'tokenSecret', 'prune', 'stats'),
  feed: required<Storage['feed']>()('end', 'endBefore', 'find', 'list', 'latest', 'stats', 'tokenSecret'),
  holds: required<Storage['holds']>()('find', 'adopt'),
  subscriptions: required<Storage['subscriptions']>()(
    'list', 'count', 'find', 'put', 'isVerified', 'end', 'fill', 'stats'
  ),
  idempotency: required<Storage['idempotency']>()('claim', 'renew', 'save'),
  candidates: required<Storage['candidates']>()('list', 'count', 'find'),
  jobs: required<Storage['jobs']>()('list', 'count', 'find')
}

const readMax = integer(1, 100_000)

/** Checks a storage of webhooks and deliveries. Throws `invalid_option` for a missing method. */
export function readEventStorage (value: unknown, path: string): EventStorage {
  assertOption(typeof value === 'object' && value !== null, path, 'an object', value)
  for (const name of ['webhooks', 'deliveries'] as const) assertPort(value, path, name)
  for (const name of ['changes', 'feed', 'holds', 'idempotency', 'subscriptions'] as const) {
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
  for (const method of methods[name]) {
    const value: unknown = Reflect.get(port, method)
    assertOption(typeof value === 'function', `${path}.${name}.${method}`, 'a method', value)
  }
}
