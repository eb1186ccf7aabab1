import { RecruitingApiError } from '../../core/shared/errors.js'
import type { DeliveryStore, NewEvent } from '../../core/ports/index.js'
import { handleOf } from '../../core/shared/fields.js'
import { addSequence, nextSequence } from '../../storages/memory/deliveries/records.js'
import type { DefaultEvents, EventCatalogue, EventData } from '../../core/api/catalogue.js'

/** An event that the code under test emitted: a union by `type`. */
export type EmittedEntry<
  Events extends EventCatalogue = DefaultEvents,
  Name extends keyof Events & string = keyof Events & string
> = {
  [Type in Name]: {
    tenantSlug: string
    type: Type
    /** As receivers get it, parsed from `body`. */
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

/** An entry of any catalogue. */
type LoggedEvent = Omit<EmittedEntry, 'type' | 'data'> & { type: string, data: unknown }

export type EventLog = ReturnType<typeof createEventLog>

/** Keeps events in an array. Adds an event immediately, and removes it if its transaction is rolled back. */
export function createEventLog () {
  let lastSequence = 0
  const events: LoggedEvent[] = []
  const sources = new Map<LoggedEvent, NewEvent & { recordedAt: string }>()
  const open = new Map<unknown, LoggedEvent[]>()

  function add (tenantSlug: string, given: NewEvent, handle: unknown): void {
    lastSequence = nextSequence(lastSequence, Date.now())
    const event = addSequence(given, lastSequence)
    const { type, subject, otherSubjects = [], idempotencyKey, body } = event
    const subjects = subject === null ? [] : [subject, ...otherSubjects]
    const { data } = JSON.parse(body)
    const logged = { tenantSlug, type, data, subject, subjects, idempotencyKey, body, transaction: handle }
    events.push(logged)
    sources.set(logged, { ...event, recordedAt: new Date().toISOString() })
    if (handle === undefined) return
    const others = open.get(handle) ?? []
    others.push(logged)
    open.set(handle, others)
  }

  function remove (logged: LoggedEvent): void {
    events.splice(events.indexOf(logged), 1)
    sources.delete(logged)
  }

  function findByKey (tenantSlug: string, key: string | null): NewEvent | undefined {
    const earlier =
      key === null ? undefined : events.find((event) => event.tenantSlug === tenantSlug && event.idempotencyKey === key)
    return earlier && sources.get(earlier)
  }

  const store: Pick<DeliveryStore, 'record' | 'erase' | 'listSubjectEvents'> = {
    async record (tenantSlug, event, transaction) {
      const handle = readTransaction(transaction)
      const earlier = findByKey(tenantSlug, event.idempotencyKey)
      if (earlier === undefined) add(tenantSlug, event, handle)
      const { id, fingerprint } = earlier ?? event
      return { id, fingerprint, deliveries: 0 }
    },

    async erase (tenantSlug, subject, transaction) {
      readTransaction(transaction)
      const found = events.filter((event) => event.tenantSlug === tenantSlug && event.subjects.includes(subject))
      return { events: found.length, truncated: false }
    },

    async listSubjectEvents (tenantSlug, subject, { after, limit }) {
      const listed = events.map((event, index) => ({ event, position: index + 1, source: sources.get(event) }))
      return listed
        .filter(
          ({ event, position }) =>
            event.tenantSlug === tenantSlug && event.subjects.includes(subject) && position > after
        )
        .slice(0, limit)
        .map(({ event: { type }, position, source }) => ({
          position,
          eventId: String(source?.id),
          eventType: type,
          recordedAt: String(source?.recordedAt),
          isErased: false,
          deliveries: []
        }))
    }
  }

  return {
    /** Always the same array. */
    events,
    store,

    commit (transaction: unknown): void {
      open.delete(readEnded(transaction))
    },

    rollback (transaction: unknown): void {
      const handle = readEnded(transaction)
      for (const logged of open.get(handle) ?? []) remove(logged)
      open.delete(handle)
    },

    clear (): void {
      events.length = 0
      sources.clear()
      open.clear()
    }
  }
}

/** Accepts any handle except `null`, which is most likely a transaction that the host forgot to begin. */
function readTransaction (transaction: unknown): unknown {
  if (transaction === null) {
    throw new RecruitingApiError('invalid_event', 'transaction: expected a handle, got null', 'transaction')
  }
  return typeof transaction === 'object' ? handleOf(transaction) : transaction
}

function readEnded (transaction: unknown): unknown {
  if (transaction !== undefined && transaction !== null) return readTransaction(transaction)
  throw new RecruitingApiError('invalid_input', `transaction: expected a handle, got ${transaction}`, 'transaction')
}
