import type { ErrorObject } from 'ajv'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { createAjv, formatFaultPath } from '../ajv.js'
import { RecruitingApiError } from '../errors.js'

/** The events a host emits: from the name, such as `application.created`, to the schema of its `data`. */
export type EventCatalogue = Record<string, TObject>

/** The data of one event type: always an object. */
export type EventData<Events extends EventCatalogue, Name extends keyof Events> = Static<Events[Name]> & object

interface EventHead<Name> {
  /** The same as the header `webhook-id`, and at every attempt and replay. */
  id: string
  type: Name
  /** When it happened: RFC 3339 in UTC with milliseconds. */
  timestamp: string
  tenant_slug: string
}

/**
 * The body of a notification, as receivers parse it: a union by `type`. `test` is there in a test alone, whose `data`
 * is empty; `erased` in a tombstone alone, for an event whose subject was erased.
 */
export type WebhookEvent<
  Events extends EventCatalogue = typeof defaultEvents,
  Name extends keyof Events & string = keyof Events & string
> = {
  [Type in Name]: EventHead<Type> & (
    | { data: EventData<Events, Type>, test?: never, erased?: never }
    | { data: Record<string, never>, test: true, erased?: never }
    | { data: null, erased: true, test?: never }
  )
}[Name]

const AnyData = Type.Object({}, { additionalProperties: true })

/** The catalogue of a host that gives none: each event takes any object as its `data`. */
export const defaultEvents = {
  'application.created': AnyData,
  'application.updated': AnyData,
  'application.stage_changed': AnyData,
  'application.rejected': AnyData,
  'application.hired': AnyData,
  'application.withdrawn': AnyData,
  'application.deleted': AnyData,
  'candidate.created': AnyData,
  'candidate.updated': AnyData,
  'candidate.deleted': AnyData,
  'candidate.anonymized': AnyData,
  'candidate.merged': AnyData,
  'job.created': AnyData,
  'job.updated': AnyData,
  'job.published': AnyData,
  'job.closed': AnyData,
  'job.archived': AnyData,
  'job.deleted': AnyData
} satisfies EventCatalogue

/** Throws `invalid_event` unless the type is known and the data fits its schema. Never changes the data. */
export type EventValidator = (type: string, data: unknown) => void

/** Compiles the schemas once. They let unknown fields pass, and those are sent. */
export function createEventValidator (events: EventCatalogue): EventValidator {
  const ajv = createAjv({ useDefaults: false })
  const validators = new Map(Object.entries(events).map(([name, schema]) => [name, ajv.compile(schema)]))
  return (type, data) => {
    const validate = validators.get(type)
    if (validate === undefined) {
      throw new RecruitingApiError('invalid_event', `type: expected an event of the catalogue, got ${JSON.stringify(type)}`, 'type')
    }
    if (validate(data)) return
    // There is at least one after a refusal.
    const [fault] = validate.errors as [ErrorObject]
    const path = formatFaultPath(fault)
    const field = path === '' ? 'data' : `data.${path}`
    throw new RecruitingApiError('invalid_event', `${field}: ${fault.message}`, field)
  }
}
