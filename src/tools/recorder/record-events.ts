import { createRecruiting } from '../../create-recruiting.js'
import type { StandaloneRecruiting } from '../../recruiting.js'
import { RecruitingApiError } from '../../core/shared/errors.js'
import {
  type IdOf, type IntegerIds, type MemoryStorage, type MemoryStorageOptions, memoryStorage
} from '../../storages/memory/index.js'
import type { IdKinds } from '../../core/ports/index.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { assertKnownNames, assertObject } from '../../core/shared/read-options.js'
import type { TenantIdLookup, TenantSlugLookup } from '../../core/shared/tenants.js'
import { type DefaultEvents, type EventCatalogue, defaultEvents } from '../../core/api/catalogue.js'
import { type EmittedEntry, type EventLog, createEventLog } from './event-log.js'

export type { EmittedEntry }

/** Options of `recordEvents`. */
export interface RecordEventsOptions<
  Events extends EventCatalogue = DefaultEvents, Ids extends Partial<IdKinds> = IntegerIds
> {
  /**
   * The event catalogue of the host.
   * @default defaultEvents
   */
  events?: Events
  /**
   * Whether `emit` rejects events without a subject, like the option of your servers.
   * @default false
   */
  requireSubject?: boolean
  /**
   * Which ids are text, like the option of your servers.
   * @default all are 'integer'
   */
  ids?: Ids
  /**
   * Returns your own tenant id, like the option of your servers.
   * @default the slug is the id
   */
  tenantId?: TenantIdLookup
  /**
   * Returns the slug of a tenant by its id, like the option of your servers.
   * @default the id as text
   */
  tenantSlug?: TenantSlugLookup
  /**
   * The candidates and jobs of `storage`, as for `memoryStorage`: by slug, or by id with the option `tenantId`.
   * @default {}
   */
  tenants?: NonNullable<MemoryStorageOptions<Ids>['tenants']>
  /**
   * Who records changes of candidates and jobs, like the option of `postgresStorage`. With `'watch'`, `storage` records
   * each `save` and `remove`. With `'manual'`, only your code does, with `changed`, so that a test finds a missing
   * call.
   * @default 'watch'
   */
  changes?: 'watch' | 'manual'
}

/** Records the events that the code under test emits. */
export interface EventRecorder<
  Events extends EventCatalogue = DefaultEvents, Ids extends Partial<IdKinds> = IntegerIds
> {
  /** Like `app.recruiting`, with the same checks, but sends nothing. `emit` accepts any handle as `transaction`. */
  readonly recruiting: StandaloneRecruiting<Events>
  /**
   * A `memoryStorage` for the plugin or `createRecruiting`, which accepts any handle as `transaction`. Only emitted
   * events depend on it: other calls, such as `changed` and `renameTenant`, take effect immediately, and `erase` only
   * counts the events.
   */
  readonly storage: StorageOf<Ids>
  /** The emitted events in order, without rolled-back ones. Always the same array. */
  readonly events: ReadonlyArray<EmittedEntry<Events>>
  /** Returns the events of one type. Throws `invalid_input` unless the type is in the catalogue. */
  of<Name extends keyof Events & string> (type: Name): Array<EmittedEntry<Events, Name>>
  /**
   * Keeps the events of a transaction, even if its handle is later reused and rolled back. Throws `invalid_input` for
   * `undefined` and `null`.
   */
  commit (transaction: unknown): void
  /** Removes the events of a transaction. Throws `invalid_input` for `undefined` and `null`. */
  rollback (transaction: unknown): void
  /** Removes all events. */
  clear (): void
}

type StorageOf<Ids extends Partial<IdKinds>> =
  MemoryStorage<IdOf<Ids, 'candidate'>, IdOf<Ids, 'job'>, IdOf<Ids, 'source'>, IdOf<Ids, 'recruiter'>>

const optionNames = {
  events: true, requireSubject: true, ids: true, tenantId: true, tenantSlug: true, tenants: true, changes: true
} satisfies Record<keyof RecordEventsOptions, true>

/**
 * Creates a recorder for the host's own tests, in any test runner. It needs no database and no receiver. Throws
 * `invalid_option`.
 */
export function recordEvents<
  Events extends EventCatalogue = DefaultEvents, const Ids extends Partial<IdKinds> = IntegerIds
> (options: RecordEventsOptions<Events, Ids> = {}): EventRecorder<Events, Ids> {
  assertObject(options, 'options')
  assertKnownNames(options, optionNames)
  const { events = defaultEvents, requireSubject = false, ids, tenantId, tenantSlug, tenants, changes } = options
  const log = createEventLog()
  const given = omitUndefined({ ids, tenants, changes }) as MemoryStorageOptions<Ids>
  const storage = recordTo(log, memoryStorage(given))
  return {
    recruiting: createRecruiting<Events>({
      storage, events, requireSubject, ...omitUndefined({ ids, tenantId, tenantSlug }), delivery: false
    } as Parameters<typeof createRecruiting<Events>>[0]),
    storage,
    events: log.events as Array<EmittedEntry<Events>>,
    of<Name extends keyof Events & string>(type: Name) {
      if (Object.hasOwn(events, type)) {
        return log.events.filter((event) => event.type === type) as Array<EmittedEntry<Events, Name>>
      }
      throw new RecruitingApiError(
        'invalid_input', `type: expected an event of the catalogue, got ${JSON.stringify(type)}`, 'type'
      )
    },
    commit: log.commit,
    rollback: log.rollback,
    clear: log.clear
  }
}

/** Returns the storage with events recorded in the log. */
function recordTo<Storage extends Omit<MemoryStorage, 'candidates' | 'jobs'>> (
  { store }: EventLog, memory: Storage
): Storage {
  const { webhooks, deliveries, changes } = memory
  return {
    ...memory,
    deliveries: { ...deliveries, ...store },
    webhooks: {
      ...webhooks,
      nextId: (tenantSlug) => webhooks.nextId(tenantSlug),
      create: (tenantSlug, webhook, { transaction, ...options }) => webhooks.create(tenantSlug, webhook, options),
      renameTenant: (from, to, { reseal }) => webhooks.renameTenant(from, to, { reseal }),
      removeTenant: (tenantSlug, { limit }) => webhooks.removeTenant(tenantSlug, { limit }),
      suspendTenant: (tenantSlug) => webhooks.suspendTenant(tenantSlug),
      resumeTenant: (tenantSlug, { pending }) => webhooks.resumeTenant(tenantSlug, { pending })
    },
    changes: { ...changes, record: (tenantSlug, change) => changes.record(tenantSlug, change) }
  }
}
