import type { ErrorObject } from 'ajv'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { compileSchema, createAjv, formatFaultPath } from '../../shared/ajv.js'
import { RecruitingApiError } from '../../errors.js'

/**
 * The events that a host emits: a map from the name, such as `application.created`, to the schema of `data`. The
 * description of the schema is a sentence, such as `An application was created`. Tenants read it and the first of its
 * `examples`.
 */
export type EventCatalogue = Record<string, TObject>

/** The data of one event type: always an object. */
export type EventData<Events extends EventCatalogue, Name extends keyof Events> = Static<Events[Name]> & object

interface EventHead<Name> {
  /** Equal to the header `webhook-id`, in every attempt and replay. */
  id: string
  type: Name
  /** When the event happened, in RFC 3339, UTC, with milliseconds. */
  timestamp: string
  tenant_slug: string
}

/**
 * The body of a notification, as receivers parse it: a union by `type`. Only a test has `test`, and its `data` is
 * empty. Only a tombstone has `erased`: the subject of its event was erased.
 */
export type WebhookEvent<
  Events extends EventCatalogue = DefaultEvents,
  Name extends keyof Events & string = keyof Events & string
> = {
  [Type in Name]: EventHead<Type> & (
    | { data: EventData<Events, Type>, test?: never, erased?: never }
    | { data: Record<string, never>, test: true, erased?: never }
    | { data: null, erased: true, test?: never }
  )
}[Name]

// Accepts any object. The `id` only documents the resource, because the host decides what it sends.
function anyData (resource: string, description: string): TObject<Record<never, never>> {
  const id = Type.Unknown({ description: `The id of the ${resource}`, examples: [1] })
  return Type.Object({ id: Type.Optional(id) }, { description, additionalProperties: true, examples: [{ id: 1 }] })
}

/** The default catalogue. Each event accepts any object as `data`. */
export const defaultEvents = {
  'application.created': anyData('application', 'An application was created'),
  'application.updated': anyData('application', 'An application was updated'),
  'application.stage_changed': anyData('application', 'An application moved to another stage'),
  'application.rejected': anyData('application', 'An application was rejected'),
  'application.hired': anyData('application', 'An applicant was hired'),
  'application.withdrawn': anyData('application', 'An application was withdrawn'),
  'application.deleted': anyData('application', 'An application was deleted'),
  'candidate.created': anyData('candidate', 'A candidate was created'),
  'candidate.updated': anyData('candidate', 'A candidate was updated'),
  'candidate.deleted': anyData('candidate', 'A candidate was deleted'),
  'candidate.anonymized': anyData('candidate', 'The personal data of a candidate was removed'),
  'candidate.merged': anyData('candidate', 'A candidate was merged with another'),
  'job.created': anyData('job', 'A job was created'),
  'job.updated': anyData('job', 'A job was updated'),
  'job.published': anyData('job', 'A job was published'),
  'job.closed': anyData('job', 'A job was closed'),
  'job.archived': anyData('job', 'A job was archived'),
  'job.deleted': anyData('job', 'A job was deleted')
} satisfies EventCatalogue

/** The type of the default catalogue. */
export type DefaultEvents = { [Name in keyof typeof defaultEvents]: (typeof defaultEvents)[Name] }

/** Throws `invalid_event` unless the type is known and the data fits its schema. Never changes the data. */
export type EventValidator = (type: string, data: unknown) => void

/** Compiles the schemas of a catalogue. Unknown fields are valid and are sent. */
export function createEventValidator (events: EventCatalogue): EventValidator {
  const ajv = createAjv({ useDefaults: false })
  const validators = new Map(Object.entries(events).map(([name, schema]) => [name, compileSchema(ajv, schema)]))
  return (type, data) => {
    const validate = validators.get(type)
    if (validate === undefined) {
      throw new RecruitingApiError('invalid_event', `type: expected an event of the catalogue, got ${JSON.stringify(type)}`, 'type')
    }
    if (validate(data)) return
    // A failed validation has at least one error.
    const [fault] = validate.errors as [ErrorObject]
    const path = formatFaultPath(fault)
    const field = path === '' ? 'data' : `data.${path}`
    throw new RecruitingApiError('invalid_event', `${field}: ${fault.message}`, field)
  }
}
