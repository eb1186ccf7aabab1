import { type StandaloneRecruiting, createRecruiting } from '../create-recruiting.js'
import { RecruitingApiError } from '../errors.js'
import { type MemoryStorage, memoryStorage } from '../memory/index.js'
import { assertKnownNames, assertObject } from '../shared/read-options.js'
import { type DefaultEvents, type EventCatalogue, type EventData, defaultEvents } from '../webhooks/events/catalogue.js'
import { type EventLog, createEventLog } from './event-log.js'

/** Options of `recordEvents`. */
export interface RecordEventsOptions<Events extends EventCatalogue = DefaultEvents> {
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
}

/** An event that the code under test emitted: a union by `type`. */
export type EmittedEntry<
  Events extends EventCatalogue = DefaultEvents,
  Name extends keyof Events & string = keyof Events & string
> = {
  [Type in Name]: {
    tenantSlug: string
    type: Type
    /** As receivers get it: parsed from `body`. */
    data: EventData<Events, Type>
    /** The first of `subjects`; `null` if none was given. */
    subject: string | null
    /** `subject` and `subjects` as given, each once. */
    subjects: string[]
    /** `null` if none was given. */
    idempotencyKey: string | null
    /** The JSON that is signed and sent. */
    body: string
    /**
     * The handle passed to `emit`; the library's handle if a function such as `fromKnex` converted it. `undefined` if
     * none was given.
     */
    transaction: unknown
  }
}[Name]

/** Records the events that the code under test emits. */
export interface EventRecorder<Events extends EventCatalogue = DefaultEvents> {
  /**
   * Like `app.recruiting`, with the checks of the real one. It sends nothing. `emit` takes any handle as
   * `transaction`.
   */
  readonly recruiting: StandaloneRecruiting<Events>
  /**
   * A `memoryStorage` for the plugin or `createRecruiting`, which takes any handle as `transaction`. Only emitted
   * events follow it: `changed`, `renameTenant` and `removeTenant` take effect at once, and `erase` only counts the
   * events.
   */
  readonly storage: MemoryStorage
  /** The events in the order of their emits, without those that were rolled back. Always the same array. */
  readonly events: ReadonlyArray<EmittedEntry<Events>>
  /** Returns the events of one type. Throws `invalid_input` for a type that the catalogue does not have. */
  of<Name extends keyof Events & string> (type: Name): Array<EmittedEntry<Events, Name>>
  /**
   * Keeps the events of a transaction, even if its handle is used again and rolled back. Throws `invalid_input` for
   * `undefined` and `null`.
   */
  commit (transaction: unknown): void
  /** Forgets the events of a transaction. Throws `invalid_input` for `undefined` and `null`. */
  rollback (transaction: unknown): void
  /** Forgets all events. */
  clear (): void
}

/**
 * Creates a recorder for the host's own tests, in any test runner. It needs no database and no receiver. Throws
 * `invalid_option`.
 */
export function recordEvents<Events extends EventCatalogue = DefaultEvents> (
  options: RecordEventsOptions<Events> = {}
): EventRecorder<Events> {
  assertObject(options, 'options')
  assertKnownNames(options, { events: true, requireSubject: true } satisfies Record<keyof RecordEventsOptions, true>)
  const { events = defaultEvents, requireSubject = false } = options
  const log = createEventLog()
  const storage = createStorage(log)
  return {
    recruiting: createRecruiting<Events>({ storage, events, requireSubject, delivery: false } as Parameters<
      typeof createRecruiting<Events>
    >[0]),
    storage,
    events: log.events as Array<EmittedEntry<Events>>,
    of<Name extends keyof Events & string>(type: Name) {
      if (Object.hasOwn(events, type)) {
        return log.events.filter((event) => event.type === type) as Array<EmittedEntry<Events, Name>>
      }
      throw new RecruitingApiError(
        'invalid_input',
        `type: expected an event of the catalogue, got ${JSON.stringify(type)}`,
        'type'
      )
    },
    commit: log.commit,
    rollback: log.rollback,
    clear: log.clear
  }
}

function createStorage ({ record, erase, listSubjectEvents }: EventLog): MemoryStorage {
  const memory = memoryStorage()
  const { webhooks, deliveries, changes } = memory
  return {
    ...memory,
    deliveries: { ...deliveries, record, erase, listSubjectEvents },
    webhooks: {
      ...webhooks,
      renameTenant: (from, to, { reseal }) => webhooks.renameTenant(from, to, { reseal }),
      removeTenant: (tenantSlug, { limit }) => webhooks.removeTenant(tenantSlug, { limit })
    },
    changes: { ...changes, record: (tenantSlug, change) => changes.record(tenantSlug, change) }
  }
}
