import type { ErrorObject, ValidateFunction } from 'ajv'
import type { TObject } from '@sinclair/typebox'
import { compileSchema, createAjv, formatFaultPath } from '../../shared/ajv.js'
import { type DeprecationNotice, readDeprecation } from '../../shared/deprecation.js'
import { RecruitingApiError } from '../../errors.js'
import { exampleOf } from '../../shared/schemas.js'
import { type StaticOf, type TypeBoxObject, Type } from '../../shared/typebox.js'

/** The descriptions of the default events in the languages of the portal besides English. */
const defaultDescriptions = {
  'application.created': {
    de: 'Eine Bewerbung wurde angelegt',
    es: 'Se ha creado una candidatura',
    fr: 'Une candidature a été créée',
    nl: 'Er is een sollicitatie aangemaakt',
    pt: 'Uma candidatura foi criada'
  },
  'application.updated': {
    de: 'Eine Bewerbung wurde geändert',
    es: 'Se ha modificado una candidatura',
    fr: 'Une candidature a été modifiée',
    nl: 'Er is een sollicitatie gewijzigd',
    pt: 'Uma candidatura foi alterada'
  },
  'application.stage_changed': {
    de: 'Eine Bewerbung hat die Phase gewechselt',
    es: 'Una candidatura ha cambiado de etapa',
    fr: 'Une candidature a changé d’étape',
    nl: 'Een sollicitatie is naar een andere fase gegaan',
    pt: 'Uma candidatura mudou de etapa'
  },
  'application.rejected': {
    de: 'Eine Bewerbung wurde abgelehnt',
    es: 'Se ha rechazado una candidatura',
    fr: 'Une candidature a été refusée',
    nl: 'Er is een sollicitatie afgewezen',
    pt: 'Uma candidatura foi recusada'
  },
  'application.hired': {
    de: 'Jemand wurde eingestellt',
    es: 'Se ha contratado a una persona',
    fr: 'Une personne a été embauchée',
    nl: 'Er is iemand aangenomen',
    pt: 'Uma pessoa foi contratada'
  },
  'application.withdrawn': {
    de: 'Eine Bewerbung wurde zurückgezogen',
    es: 'Se ha retirado una candidatura',
    fr: 'Une candidature a été retirée',
    nl: 'Er is een sollicitatie ingetrokken',
    pt: 'Uma candidatura foi retirada'
  },
  'application.deleted': {
    de: 'Eine Bewerbung wurde gelöscht',
    es: 'Se ha eliminado una candidatura',
    fr: 'Une candidature a été supprimée',
    nl: 'Er is een sollicitatie verwijderd',
    pt: 'Uma candidatura foi excluída'
  },
  'candidate.created': {
    de: 'Ein Kandidat wurde angelegt',
    es: 'Se ha creado un candidato',
    fr: 'Un candidat a été créé',
    nl: 'Er is een kandidaat aangemaakt',
    pt: 'Um candidato foi criado'
  },
  'candidate.updated': {
    de: 'Ein Kandidat wurde geändert',
    es: 'Se ha modificado un candidato',
    fr: 'Un candidat a été modifié',
    nl: 'Er is een kandidaat gewijzigd',
    pt: 'Um candidato foi alterado'
  },
  'candidate.deleted': {
    de: 'Ein Kandidat wurde gelöscht',
    es: 'Se ha eliminado un candidato',
    fr: 'Un candidat a été supprimé',
    nl: 'Er is een kandidaat verwijderd',
    pt: 'Um candidato foi excluído'
  },
  'candidate.anonymized': {
    de: 'Die personenbezogenen Daten eines Kandidaten wurden entfernt',
    es: 'Se han eliminado los datos personales de un candidato',
    fr: 'Les données personnelles d’un candidat ont été supprimées',
    nl: 'De persoonsgegevens van een kandidaat zijn verwijderd',
    pt: 'Os dados pessoais de um candidato foram removidos'
  },
  'candidate.merged': {
    de: 'Ein Kandidat wurde mit einem anderen zusammengeführt',
    es: 'Un candidato se ha combinado con otro',
    fr: 'Un candidat a été fusionné avec un autre',
    nl: 'Een kandidaat is samengevoegd met een andere',
    pt: 'Um candidato foi mesclado com outro'
  },
  'job.created': {
    de: 'Eine Stelle wurde angelegt',
    es: 'Se ha creado una oferta de empleo',
    fr: 'Une offre d’emploi a été créée',
    nl: 'Er is een vacature aangemaakt',
    pt: 'Uma vaga foi criada'
  },
  'job.updated': {
    de: 'Eine Stelle wurde geändert',
    es: 'Se ha modificado una oferta de empleo',
    fr: 'Une offre d’emploi a été modifiée',
    nl: 'Er is een vacature gewijzigd',
    pt: 'Uma vaga foi alterada'
  },
  'job.published': {
    de: 'Eine Stelle wurde veröffentlicht',
    es: 'Se ha publicado una oferta de empleo',
    fr: 'Une offre d’emploi a été publiée',
    nl: 'Er is een vacature gepubliceerd',
    pt: 'Uma vaga foi publicada'
  },
  'job.closed': {
    de: 'Eine Stelle wurde geschlossen',
    es: 'Se ha cerrado una oferta de empleo',
    fr: 'Une offre d’emploi a été clôturée',
    nl: 'Er is een vacature gesloten',
    pt: 'Uma vaga foi encerrada'
  },
  'job.archived': {
    de: 'Eine Stelle wurde archiviert',
    es: 'Se ha archivado una oferta de empleo',
    fr: 'Une offre d’emploi a été archivée',
    nl: 'Er is een vacature gearchiveerd',
    pt: 'Uma vaga foi arquivada'
  },
  'job.deleted': {
    de: 'Eine Stelle wurde gelöscht',
    es: 'Se ha eliminado una oferta de empleo',
    fr: 'Une offre d’emploi a été supprimée',
    nl: 'Er is een vacature verwijderd',
    pt: 'Uma vaga foi excluída'
  }
}

/**
 * The events that a host emits: a map from the name, such as `application.created`, to the schema of `data`, made
 * with `@sinclair/typebox` 0.34 or with `typebox` 1.x. Tenants read the schema's `description`, a sentence such as
 * `An application was created`, and the first of its `examples`, which test notifications send; without one, it is
 * made from the schema. `descriptions` has the sentence by language, such as `{ de: '…' }`. `deprecated: { since,
 * sunset, link }` announces that an event will be removed.
 */
export type EventCatalogue = Record<string, TypeBoxObject>

/** A catalogue that was checked. The code only uses its JSON, which is the same with either TypeBox. */
export type EventSchemas = Record<string, TObject>

/** The schema of an event as JSON Schema knows it, and what a host adds to it. */
interface SplitEvent {
  schema: TObject
  deprecation: DeprecationNotice | null
  /** By language; `null` without any. */
  descriptions: Record<string, string> | null
}

/** Separates the deprecation of an event, and its descriptions by language, from its schema. */
export function splitEvent ({ deprecated, descriptions = null, ...schema }: TObject): SplitEvent {
  const deprecation = typeof deprecated === 'object' ? readDeprecation(deprecated) : null
  const flag = deprecation === null ? deprecated : true
  return {
    schema: { ...schema, ...(flag === undefined ? {} : { deprecated: flag }) } as TObject,
    deprecation,
    descriptions
  }
}

/** The data of one event type: always an object. */
export type EventData<Events extends EventCatalogue, Name extends keyof Events> = StaticOf<Events[Name]> & object

interface EventHead<Name> {
  /** Equal to the header `webhook-id`, in every attempt and replay. */
  id: string
  type: Name
  /** When the event happened, in RFC 3339, UTC, with milliseconds. */
  timestamp: string
  tenant_slug: string
}

/**
 * The body of a notification, as receivers parse it: a union by `type`. Only a test has `test`, and its `data` is the
 * first example of the event's schema, or made from the schema. Only a tombstone has `erased`, and `data: null`: the
 * subject of its event was erased.
 */
export type WebhookEvent<
  Events extends EventCatalogue = DefaultEvents,
  Name extends keyof Events & string = keyof Events & string
> = {
  [Type in Name]: EventHead<Type> & (
    | { data: EventData<Events, Type>, test?: true, erased?: never }
    | { data: null, erased: true, test?: never }
  )
}[Name]

// Accepts any object. The `id` only documents the resource, because the host decides what it sends.
function anyData (name: keyof typeof defaultDescriptions, description: string): TObject<Record<never, never>> {
  const [resource] = name.split('.')
  const id = Type.Unknown({ description: `The id of the ${resource}`, examples: [1] })
  return Type.Object(
    { id: Type.Optional(id) },
    { description, descriptions: defaultDescriptions[name], additionalProperties: true, examples: [{ id: 1 }] }
  )
}

/** The default catalogue. Each event accepts any object as `data`. */
export const defaultEvents = {
  'application.created': anyData('application.created', 'An application was created'),
  'application.updated': anyData('application.updated', 'An application was updated'),
  'application.stage_changed': anyData('application.stage_changed', 'An application moved to another stage'),
  'application.rejected': anyData('application.rejected', 'An application was rejected'),
  'application.hired': anyData('application.hired', 'An applicant was hired'),
  'application.withdrawn': anyData('application.withdrawn', 'An application was withdrawn'),
  'application.deleted': anyData('application.deleted', 'An application was deleted'),
  'candidate.created': anyData('candidate.created', 'A candidate was created'),
  'candidate.updated': anyData('candidate.updated', 'A candidate was updated'),
  'candidate.deleted': anyData('candidate.deleted', 'A candidate was deleted'),
  'candidate.anonymized': anyData('candidate.anonymized', 'The personal data of a candidate was removed'),
  'candidate.merged': anyData('candidate.merged', 'A candidate was merged with another'),
  'job.created': anyData('job.created', 'A job was created'),
  'job.updated': anyData('job.updated', 'A job was updated'),
  'job.published': anyData('job.published', 'A job was published'),
  'job.closed': anyData('job.closed', 'A job was closed'),
  'job.archived': anyData('job.archived', 'A job was archived'),
  'job.deleted': anyData('job.deleted', 'A job was deleted')
} satisfies EventSchemas

/** The type of the default catalogue. */
export type DefaultEvents = { [Name in keyof typeof defaultEvents]: (typeof defaultEvents)[Name] }

/** Throws `invalid_event` unless the type is known and the data fits its schema. Never changes the data. */
export type EventValidator = (type: string, data: unknown) => void

/** Compiles the schemas of a catalogue with the first event. Unknown fields are valid and are sent. */
export function createEventValidator (events: EventSchemas): EventValidator {
  let validators: Map<string, ValidateFunction> | null = null
  return (type, data) => {
    validators ??= compileEvents(events)
    const validate = validators.get(type)
    if (validate === undefined) {
      throw new RecruitingApiError(
        'invalid_event',
        `type: expected an event of the catalogue, got ${JSON.stringify(type)}`,
        'type'
      )
    }
    if (validate(data)) return
    // A failed validation has at least one error.
    const [fault] = validate.errors as [ErrorObject]
    const path = formatFaultPath(fault)
    const field = path === '' ? 'data' : `data.${path}`
    throw new RecruitingApiError('invalid_event', `${field}: ${fault.message}`, field)
  }
}

/**
 * Returns data of an event type that fits its schema; `null` if its example does not, or if none can be made from the
 * schema.
 */
export type EventExamples = (type: string) => object | null

/** Returns the examples of a catalogue. */
export function createEventExamples (events: EventSchemas): EventExamples {
  const validate = createEventValidator(events)
  return (type) => {
    const schema = events[type]
    const example = schema === undefined ? null : exampleOf(schema)
    try {
      validate(type, example)
    } catch {
      return null
    }
    return example as object
  }
}

function compileEvents (events: EventSchemas): Map<string, ValidateFunction> {
  const ajv = createAjv({ useDefaults: false })
  return new Map(Object.entries(events).map(([name, schema]) => [name, compileSchema(ajv, schema)]))
}

/**
 * Registers the event catalogue of a host, so that the compiler checks the option `events` and every
 * `app.recruiting.emit`:
 * `declare module 'fastify-recruiting-api' { interface Register { events: typeof events } }`
 */
export interface Register {}

/** The catalogue in `Register`, or the default one. */
export type RegisteredEvents = Register extends { events: infer Events extends EventCatalogue } ? Events : DefaultEvents
