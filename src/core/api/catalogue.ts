import type { ErrorObject, ValidateFunction } from 'ajv'
import type { TObject } from '@sinclair/typebox'
import type { HealthEventType } from '../ports/index.js'
import { assertHostSchema, compileSchema, createAjv, formatFaultPath } from '../shared/ajv.js'
import { changedPattern } from './events.js'
import { findDeprecationFault, readDeprecation } from '../shared/deprecation.js'
import { rejectEvent } from '../shared/errors.js'
import { isEventType } from '../shared/ids.js'
import { assertObject, assertOption, findNearestName, readLocale, rejectOption, text } from '../shared/read-options.js'
import { type StaticOf, type TypeBoxObject, exampleOf, Type } from '../shared/typebox.js'

/**
 * The events that a host emits: a map from names, such as `application.created`, to schemas of `data`, made with
 * `@sinclair/typebox` 0.34 or `typebox` 1.x. Tenants see the schema's `description`, such as `An application was
 * created`, and the first of its `examples`. Test notifications send this example; without one, it is made from the
 * schema. `descriptions` contains the description by language, such as `{ de: '…' }`. `deprecated: { since, sunset,
 * link }` announces that an event will be removed.
 */
export type EventCatalogue = Record<string, TypeBoxObject>

/** A checked catalogue. Only its JSON is used, which is the same with either TypeBox. */
export type EventSchemas = Record<string, TObject>

/** Splits an event into its JSON Schema, its deprecation and its descriptions by language. */
export function splitEvent ({ deprecated, descriptions = null, ...schema }: TObject) {
  const deprecation = typeof deprecated === 'object' ? readDeprecation(deprecated) : null
  const flag = deprecation === null ? deprecated : true
  return {
    schema: { ...schema, ...(flag === undefined ? {} : { deprecated: flag }) } as TObject,
    deprecation,
    descriptions: descriptions as Record<string, string> | null
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
  /** 16 digits, zeros in tests: of two events about a record, the one with the greater text is newer. */
  sequence: string
  tenant_slug: string
  /** Names of the fields that changed, if the host names them. */
  changed?: string[]
}

/**
 * The body of a notification, as receivers parse it: a union by `type`. Only tests have `test`; their `data` is the
 * first example of the event's schema, or made from the schema. Only tombstones have `erased` and `data: null`: the
 * event's subject was erased.
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

/** A sentence in English, German, Spanish, French, Dutch and Portuguese, the languages of the portal. */
type Sentence = readonly [en: string, de: string, es: string, fr: string, nl: string, pt: string]

// Accepts any object. `id` is only documentation, because the host decides what it sends.
function anyData (resource: string, [description, de, es, fr, nl, pt]: Sentence): TObject<Record<never, never>> {
  const id = Type.Unknown({ description: `The id of the ${resource}`, examples: [1] })
  return Type.Object(
    { id: Type.Optional(id) },
    { description, descriptions: { de, es, fr, nl, pt }, additionalProperties: true, examples: [{ id: 1 }] }
  )
}

/** The default catalogue. Each event accepts any object as `data`. */
export const defaultEvents = {
  'application.created': anyData('application', [
    'An application was created', 'Eine Bewerbung wurde angelegt', 'Se ha creado una candidatura',
    'Une candidature a été créée', 'Er is een sollicitatie aangemaakt', 'Uma candidatura foi criada'
  ]),
  'application.updated': anyData('application', [
    'An application was updated', 'Eine Bewerbung wurde geändert', 'Se ha modificado una candidatura',
    'Une candidature a été modifiée', 'Er is een sollicitatie gewijzigd', 'Uma candidatura foi alterada'
  ]),
  'application.stage_changed': anyData('application', [
    'An application moved to another stage', 'Eine Bewerbung hat die Phase gewechselt',
    'Una candidatura ha cambiado de etapa', 'Une candidature a changé d’étape',
    'Een sollicitatie is naar een andere fase gegaan', 'Uma candidatura mudou de etapa'
  ]),
  'application.rejected': anyData('application', [
    'An application was rejected', 'Eine Bewerbung wurde abgelehnt', 'Se ha rechazado una candidatura',
    'Une candidature a été refusée', 'Er is een sollicitatie afgewezen', 'Uma candidatura foi recusada'
  ]),
  'application.hired': anyData('application', [
    'An applicant was hired', 'Jemand wurde eingestellt', 'Se ha contratado a una persona',
    'Une personne a été embauchée', 'Er is iemand aangenomen', 'Uma pessoa foi contratada'
  ]),
  'application.withdrawn': anyData('application', [
    'An application was withdrawn', 'Eine Bewerbung wurde zurückgezogen', 'Se ha retirado una candidatura',
    'Une candidature a été retirée', 'Er is een sollicitatie ingetrokken', 'Uma candidatura foi retirada'
  ]),
  'application.deleted': anyData('application', [
    'An application was deleted', 'Eine Bewerbung wurde gelöscht', 'Se ha eliminado una candidatura',
    'Une candidature a été supprimée', 'Er is een sollicitatie verwijderd', 'Uma candidatura foi excluída'
  ]),
  'candidate.created': anyData('candidate', [
    'A candidate was created', 'Ein Kandidat wurde angelegt', 'Se ha creado un candidato', 'Un candidat a été créé',
    'Er is een kandidaat aangemaakt', 'Um candidato foi criado'
  ]),
  'candidate.updated': anyData('candidate', [
    'A candidate was updated', 'Ein Kandidat wurde geändert', 'Se ha modificado un candidato',
    'Un candidat a été modifié', 'Er is een kandidaat gewijzigd', 'Um candidato foi alterado'
  ]),
  'candidate.deleted': anyData('candidate', [
    'A candidate was deleted', 'Ein Kandidat wurde gelöscht', 'Se ha eliminado un candidato',
    'Un candidat a été supprimé', 'Er is een kandidaat verwijderd', 'Um candidato foi excluído'
  ]),
  'candidate.anonymized': anyData('candidate', [
    'The personal data of a candidate was removed', 'Die personenbezogenen Daten eines Kandidaten wurden entfernt',
    'Se han eliminado los datos personales de un candidato',
    'Les données personnelles d’un candidat ont été supprimées',
    'De persoonsgegevens van een kandidaat zijn verwijderd', 'Os dados pessoais de um candidato foram removidos'
  ]),
  'candidate.merged': anyData('candidate', [
    'A candidate was merged with another', 'Ein Kandidat wurde mit einem anderen zusammengeführt',
    'Un candidato se ha combinado con otro', 'Un candidat a été fusionné avec un autre',
    'Een kandidaat is samengevoegd met een andere', 'Um candidato foi mesclado com outro'
  ]),
  'job.created': anyData('job', [
    'A job was created', 'Eine Stelle wurde angelegt', 'Se ha creado una oferta de empleo',
    'Une offre d’emploi a été créée', 'Er is een vacature aangemaakt', 'Uma vaga foi criada'
  ]),
  'job.updated': anyData('job', [
    'A job was updated', 'Eine Stelle wurde geändert', 'Se ha modificado una oferta de empleo',
    'Une offre d’emploi a été modifiée', 'Er is een vacature gewijzigd', 'Uma vaga foi alterada'
  ]),
  'job.published': anyData('job', [
    'A job was published', 'Eine Stelle wurde veröffentlicht', 'Se ha publicado una oferta de empleo',
    'Une offre d’emploi a été publiée', 'Er is een vacature gepubliceerd', 'Uma vaga foi publicada'
  ]),
  'job.closed': anyData('job', [
    'A job was closed', 'Eine Stelle wurde geschlossen', 'Se ha cerrado una oferta de empleo',
    'Une offre d’emploi a été clôturée', 'Er is een vacature gesloten', 'Uma vaga foi encerrada'
  ]),
  'job.archived': anyData('job', [
    'A job was archived', 'Eine Stelle wurde archiviert', 'Se ha archivado una oferta de empleo',
    'Une offre d’emploi a été archivée', 'Er is een vacature gearchiveerd', 'Uma vaga foi arquivada'
  ]),
  'job.deleted': anyData('job', [
    'A job was deleted', 'Eine Stelle wurde gelöscht', 'Se ha eliminado una oferta de empleo',
    'Une offre d’emploi a été supprimée', 'Er is een vacature verwijderd', 'Uma vaga foi excluída'
  ])
} satisfies EventSchemas

const aboutWebhook = ([description, de, es, fr, nl, pt]: Sentence) => Type.Object(
  { webhook_id: Type.Integer({ description: 'The id of the webhook' }) },
  { description, descriptions: { de, es, fr, nl, pt }, additionalProperties: true, examples: [{ webhook_id: 1 }] }
)

/**
 * Events about a tenant's other webhooks. The service records them itself if the option `events` has them, such as in
 * `{ ...defaultEvents, ...webhookEvents }`. They are never sent to the webhook that they are about.
 */
export const webhookEvents = {
  'webhook.failing': aboutWebhook([
    'A webhook keeps failing and will be disabled', 'Ein Webhook schlägt dauernd fehl und wird deaktiviert',
    'Un webhook sigue fallando y se desactivará', 'Un webhook échoue sans cesse et va être désactivé',
    'Een webhook blijft mislukken en wordt uitgeschakeld', 'Um webhook continua falhando e será desativado'
  ]),
  'webhook.disabled': aboutWebhook([
    'A webhook was disabled because its endpoint failed, or asked for it',
    'Ein Webhook wurde deaktiviert, weil sein Endpunkt fehlschlug oder darum bat',
    'Un webhook se desactivó porque su endpoint falló o lo pidió',
    'Un webhook a été désactivé car son endpoint a échoué ou l’a demandé',
    'Een webhook is uitgeschakeld omdat het endpoint faalde of erom vroeg',
    'Um webhook foi desativado porque seu endpoint falhou ou pediu isso'
  ])
} satisfies EventSchemas & Record<HealthEventType, TObject>

/** Returns the types of `webhookEvents` that a catalogue has. */
export function listHealthEventTypes (events: EventSchemas): HealthEventType[] {
  return (['webhook.failing', 'webhook.disabled'] as const).filter((type) => Object.hasOwn(events, type))
}

export type DefaultEvents = { [Name in keyof typeof defaultEvents]: (typeof defaultEvents)[Name] }

/** Checks an event catalogue. Throws `invalid_option` for a malformed name or schema. */
export function readEvents (value: unknown, path: string): EventSchemas {
  if (value === undefined || value === defaultEvents) return defaultEvents
  assertOption(typeof value === 'object' && value !== null, path, 'a map from event names to TypeBox schemas', value)
  assertOption(Object.keys(value).length > 0, path, 'at least one event', value)
  const ajv = createAjv({ useDefaults: false })
  for (const [name, schema] of Object.entries(value)) {
    assertOption(
      isEventType(name), `${path}["${name}"]`, 'a name such as application.created', name
    )
    assertHostSchema(schema, `${path}["${name}"]`, ajv)
    assertDeprecation(schema, `${path}["${name}"]`)
    assertDescriptions(schema, `${path}["${name}"].descriptions`)
  }
  return value as EventSchemas
}

/** A schema can also be deprecated without a date, by `true`, as in JSON Schema. */
function assertDeprecation ({ deprecated }: TObject, path: string): void {
  if (deprecated === undefined || typeof deprecated === 'boolean') return
  const fault = findDeprecationFault(deprecated)
  if (fault !== null) rejectOption(`${path}.deprecated${fault.path}`, fault.expected, fault.value)
}

function assertDescriptions ({ descriptions = {} }: TObject, path: string): void {
  assertObject(descriptions, path, 'an object of descriptions by language')
  for (const [locale, description] of Object.entries(descriptions)) {
    assertOption(
      readLocale(locale, `${path}.${locale}`) === locale, `${path}.${locale}`,
      'a language such as de or en-GB', locale
    )
    text(description, `${path}.${locale}`)
  }
}

export type EventValidator = ReturnType<typeof createEventValidator>

/**
 * Returns a function that throws `invalid_event` unless the type is in the catalogue, the data matches its schema and
 * the changed fields can be in it.
 * It never changes the data: unknown fields are valid and are sent. It compiles all schemas on the first event.
 */
export function createEventValidator (events: EventSchemas) {
  let validators: Map<string, ValidateFunction> | null = null
  return (type: string, data: unknown, changed?: unknown): void => {
    validators ??= compileEvents(events)
    const validate = validators.get(type)
    if (validate === undefined) rejectEvent('type', `expected an event of the catalogue, got ${JSON.stringify(type)}`)
    const isValid = validate(data)
    if (isValid && changed !== undefined) assertChanged(events, type, changed)
    if (isValid) return
    // A failed validation has at least one error.
    const [fault] = validate.errors as [ErrorObject]
    const path = formatFaultPath(fault)
    rejectEvent(path === '' ? 'data' : `data.${path}`, String(fault.message))
  }
}

/**
 * Throws `invalid_event` unless these can be the names of changed fields of this type: properties of its schema, or any
 * names if the schema allows others or declares none.
 */
function assertChanged (events: EventSchemas, type: string, changed: unknown): void {
  const { properties = {}, additionalProperties = false } = events[type] ?? {}
  const known = Object.keys(properties)
  const isOpen = known.length === 0 || additionalProperties !== false
  const isName = new RegExp(changedPattern, 'u')
  if (!Array.isArray(changed) || changed.length > 100) rejectEvent('changed', 'expected an array of at most 100 names')
  for (const [index, name] of changed.entries()) {
    const path = `changed[${index}]`
    if (typeof name !== 'string' || !isName.test(name)) rejectEvent(path, 'expected a name of 1 to 64 characters')
    if (!isOpen && !known.includes(name)) {
      rejectEvent(path, `expected a field of ${type} such as ${findNearestName(name, known)}, got ${JSON.stringify(name)}`)
    }
    if (changed.indexOf(name) < index) rejectEvent(path, 'expected each name once')
  }
}

/** Returns a function that returns an event type's example data; `null` if none can be made that matches the schema. */
export function createEventExamples (events: EventSchemas): (type: string) => object | null {
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
 * Registers the host's event catalogue, so that the compiler checks the option `events` and every
 * `app.recruiting.emit`:
 * `declare module 'fastify-recruiting-api' { interface Register { events: typeof events } }`
 */
export interface Register {}

/** The catalogue in `Register`, or the default one. */
export type RegisteredEvents = Register extends { events: infer Events extends EventCatalogue } ? Events : DefaultEvents
