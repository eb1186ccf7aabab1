import type { PortalMessages } from '../messages.js'
import {
  type EventFilters, type EventType, type Failure, type FilterValue, type NewWebhook, type Webhook, messageFor
} from './api.js'
import { parseJson, parseUrl } from './text.js'

/** The form's values, with the API's field names. */
export interface Draft {
  name: string
  target_url: string
  event_types: readonly string[]
  /** `null` keeps the webhook's headers. The API never returns their values. */
  headers: readonly HeaderDraft[] | null
  filters: readonly FilterDraft[]
  /** Names separated by commas. */
  changed: string
  contact: string
}

/** A header in the form, ignored if both fields are empty. */
export interface HeaderDraft {
  name: string
  value: string
}

export const maxHeaders = 10

/** Returns the form's initial values. `null` is a new webhook. */
export function draftOf (webhook: Webhook | null): Draft {
  return {
    name: webhook?.name ?? '',
    target_url: webhook?.target_url ?? '',
    event_types: webhook?.event_types ?? [],
    headers: webhook?.headers == null ? [] : null,
    filters: draftsOf(webhook?.filters ?? null),
    changed: webhook?.changed?.join(', ') ?? '',
    contact: webhook?.contact ?? ''
  }
}

/** A field's error, as the name of its text. */
type Fault = keyof PortalMessages['form']['faults']

type Faults = { [Field in keyof Draft]?: Fault | undefined }

/**
 * Checks rules that are the same for every vendor. The API checks the rest: some vendors allow http and private names
 * in development. `offered` are the catalogue's event types, if it has loaded. `before` are the webhook's event types,
 * which it can keep after they leave the catalogue.
 */
export function checkDraft (
  draft: Draft, offered: ReadonlySet<string> | null, before: readonly string[] = []
): Faults {
  return {
    name: draft.name.trim() === '' ? 'nameBlank' : undefined,
    target_url: urlFault(draft.target_url.trim()),
    event_types: eventsFault(draft.event_types, offered && new Set([...offered, ...before])),
    headers: headersFault(draft.headers ?? []),
    filters: filtersFault(draft.filters),
    changed: changedFault(namesOf(draft.changed)),
    contact: /^\s*$|^\s*[^\s@]+@[^\s@]+\.[^\s@]+\s*$/.test(draft.contact) ? undefined : 'contactInvalid'
  }
}

function urlFault (text: string): Fault | undefined {
  if (text === '') return 'urlBlank'
  const url = parseUrl(text)
  if (url === null || url.hostname === '' || /\s/.test(text)) return 'urlInvalid'
  if (!/^https?:$/.test(url.protocol)) return 'urlHttps'
  return text.includes('#') || url.username !== '' || url.password !== '' ? 'urlParts' : undefined
}

function eventsFault (eventTypes: readonly string[], offered: ReadonlySet<string> | null): Fault | undefined {
  if (eventTypes.length === 0) return 'eventsNone'
  return offered === null || eventTypes.every((name) => offered.has(name)) ? undefined : 'eventsGone'
}

function headersFault (headers: readonly HeaderDraft[]): Fault | undefined {
  const filled = fillHeaders(headers)
  if (filled.some(({ name, value }) => name === '' || value === '')) return 'headersIncomplete'
  return filled.every(({ name }) => /^[A-Za-z0-9-]{1,64}$/.test(name)) ? undefined : 'headersName'
}

function changedFault (names: readonly string[]): Fault | undefined {
  return names.length > 50 || names.some((name) => /^.{65}/u.test(name)) ? 'changedNames' : undefined
}

/** Returns the different names of a comma-separated text. */
function namesOf (text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()).filter((name) => name !== ''))]
}

/** Trims headers and removes empty ones. */
function fillHeaders (headers: readonly HeaderDraft[]): HeaderDraft[] {
  return headers
    .map(({ name, value }) => ({ name: name.trim(), value: value.trim() }))
    .filter(({ name, value }) => name !== '' || value !== '')
}

/** Returns the likely reason why the API rejected a URL. */
export function explainRejection (targetUrl: string): Fault | undefined {
  const url = parseUrl(targetUrl.trim())
  if (url?.protocol === 'http:') return 'urlHttps'
  return /^\[|^[\d.]+$|^[^.]+$|\.(local|localhost|internal)$/.test(url?.hostname ?? '') ? 'urlPublic' : undefined
}

/**
 * Returns the error of each field of a rejected request: in the page's language if the page finds the reason, otherwise
 * the API's message.
 */
export function readRejection (
  failure: Failure | null, draft: Draft, textOf: (fault: Fault) => string
): { [Field in keyof Draft]?: string | null } {
  if (failure?.code !== 'bad_request') return {}
  const said = Object.fromEntries(fieldNames.map((field) => [field, messageFor(failure, field)]))
  const isSilent = said['target_url'] === null && failure.details.length > 0
  const seen = isSilent ? undefined : explainRejection(draft.target_url)
  return seen === undefined ? said : { ...said, target_url: textOf(seen) }
}

const fieldNames = ['name', 'target_url', 'event_types', 'headers', 'filters', 'changed', 'contact'] as const

/** Returns whether anything but the order of the events differs. */
export function isChanged (draft: Draft, from: Draft): boolean {
  return fieldNames.some((field) => !isSame(draft[field], from[field]))
}

/** Returns the request body. `filters` are the draft's filters. */
export function bodyOf (draft: Draft, filters: EventFilters | null) {
  const { name, target_url: url, event_types: types, headers, contact } = draft
  const changed = namesOf(draft.changed)
  const filled = headers && fillHeaders(headers).map(({ name, value }) => [name, value])
  return {
    name: name.trim(),
    target_url: url.trim(),
    event_types: [...types],
    ...(filled !== null && { headers: filled.length === 0 ? null : Object.fromEntries(filled) }),
    filters,
    changed: changed.length === 0 ? null : changed,
    contact: contact.trim() === '' ? null : contact.trim()
  }
}

/** Returns only changed fields, so that other users' changes are kept. */
export function changesOf (draft: Draft, webhook: Webhook, filters: EventFilters | null): Partial<NewWebhook> {
  const body = Object.entries(bodyOf(draft, filters))
  return Object.fromEntries(body.filter(([field, value]) => !isSame(value, webhook[field as keyof Webhook])))
}

/** Ignores the order of names. */
function isSame (one: unknown, other: unknown): boolean {
  const [text, otherText] = [one, other].map((value) =>
    JSON.stringify(Array.isArray(value) && typeof value[0] === 'string' ? value.toSorted() : value))
  return text === otherText
}

/** An event type that can be chosen. */
export type EventOption = Pick<EventType, 'name' | 'description' | 'example' | 'deprecated'> & { isOffered: boolean }

/** Event types whose names start with the same part. */
export interface EventGroup {
  /** For example `application`. */
  name: string
  options: readonly EventOption[]
}

/**
 * Returns the event types to choose from: the catalogue, and chosen types that it no longer offers. Descriptions are in
 * the language of `locale`, if there are any.
 */
export function optionsOf (catalogue: readonly EventType[], chosen: readonly string[], locale: string): EventOption[] {
  const offered = catalogue.map((type): EventOption => ({
    ...type, description: describeIn(locale, type), isOffered: true
  }))
  const names = new Set(offered.map(({ name }) => name))
  const gone = chosen
    .filter((name) => !names.has(name))
    .map((name): EventOption => ({ name, description: null, example: null, isOffered: false }))
  return [...offered, ...gone]
}

/** Looks for the description in `de-AT`, then in `de`. */
function describeIn (locale: string, { description, descriptions = {} }: EventType): string | null {
  const [language = ''] = locale.split('-')
  return descriptions[locale] ?? descriptions[language] ?? description
}

/** Groups the options that contain every word of the search, in their name or description. */
export function groupOptions (options: readonly EventOption[], search: string): EventGroup[] {
  const words = search.toLowerCase().split(/\s+/)
  const groups = new Map<string, EventOption[]>()
  for (const option of options) {
    const text = `${option.name} ${option.description ?? ''}`.toLowerCase()
    if (!words.every((word) => text.includes(word))) continue
    const [name = ''] = option.name.split('.')
    groups.set(name, [...groups.get(name) ?? [], option])
  }
  return [...groups].map(([name, options]) => ({ name, options }))
}

/** Adds names to the chosen ones, or removes them. */
export function choose (chosen: readonly string[], names: readonly string[], isChosen: boolean): string[] {
  return isChosen ? [...new Set([...chosen, ...names])] : chosen.filter((name) => !names.includes(name))
}

/** A filter in the form: a path and comma-separated values. Ignored if both are empty. */
export interface FilterDraft {
  path: string
  values: string
}

export const maxFilters = 10
const maxValues = 50

/** The fields of event data by path, with the types of their values: an empty set if unknown. */
export type DataFields = ReadonlyMap<string, ReadonlySet<string>>

/** The parts of a JSON Schema that name fields and their types. */
interface Schema {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

const pathPattern = /^data(\.[^.\p{Cc}]{1,64}){1,4}$/u

/**
 * Returns the fields that filters of these event types can use. They come from the schemas, or from the examples where
 * a schema names none.
 */
export function fieldsOf (types: ReadonlyArray<Pick<EventType, 'schema' | 'example'>>): DataFields {
  const fields = new Map<string, Set<string>>()
  for (const { schema, example } of types) collect(fields, 'data', schema, example)
  return fields
}

function collect (fields: Map<string, Set<string>>, path: string, schema: Schema, example: unknown): void {
  const parts = partsOf(schema)
  const members = membersOf(example)
  const properties = parts.flatMap((part) => Object.entries(part.properties ?? {}))
  const children = properties.length > 0 ? properties : Object.keys(members).map((name): [string, Schema] => [name, {}])
  for (const [name, child] of children) {
    if (!name.includes('.')) collect(fields, `${path}.${name}`, child, members[name])
  }
  const types = parts.flatMap(typesOf)
  const found = types.length > 0 || example == null ? types : [typeOf(example)]
  // Filters cannot reach into arrays, and no value equals an object.
  if (children.length > 0 || !pathPattern.test(path) || found.includes('object') || found.includes('array')) return
  fields.set(path, new Set([...fields.get(path) ?? [], ...found]))
}

function partsOf (schema: Schema): Schema[] {
  return [schema, ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((parts) => parts ?? []).flatMap(partsOf)]
}

function membersOf (example: unknown): Record<string, unknown> {
  return typeOf(example) === 'object' ? { ...Object(example) } : {}
}

function typesOf ({ type, ...schema }: Schema): string[] {
  const values = schema.enum ?? ('const' in schema ? [schema.const] : [])
  return type === undefined ? values.map(typeOf) : [type].flat().map((name) => name === 'integer' ? 'number' : name)
}

/** Returns the JSON Schema type. */
function typeOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export function draftsOf (filters: EventFilters | null): FilterDraft[] {
  return Object.entries(filters ?? {}).map(([path, values]) => ({ path, values: formatValues(values) }))
}

/** Returns each filter as text. */
export function formatFilters (filters: EventFilters | null): string[] {
  return draftsOf(filters).map(({ path, values }) => `${path}: ${values}`)
}

/** Formats values so that `readValues` returns the same ones. Text has quotes only where it needs them. */
export function formatValues (values: readonly FilterValue[]): string {
  return values
    .map((value) => (typeof value === 'string' && !isPlain(value) ? JSON.stringify(value) : String(value)))
    .join(', ')
}

function isPlain (text: string): boolean {
  const [value, ...others] = readValues(text)
  return value === text && others.length === 0 && JSON.stringify(text) === `"${text}"`
}

const valuePattern = /\s*"(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]+/g

/** Reads values of these types. Text in quotes is always text. */
function readValues (text: string, types: ReadonlySet<string> = new Set()): FilterValue[] {
  const parts = Array.from(text.matchAll(valuePattern), ([part]) => part.trim())
  return parts.filter((part) => part !== '').map((part) => readValue(part, types))
}

function readValue (part: string, types: ReadonlySet<string>): FilterValue {
  const value = parseJson(part)
  if (value === null || typeof value === 'string') return value
  const isText = types.has('string') && !types.has(typeof value)
  // The API accepts no larger numbers: these digits are text.
  const isSafe = typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
  return isSafe && !isText ? value : part
}

/** Returns a filter's values. An unchanged filter keeps its values in `before`, the webhook's filters. */
export function valuesOf (
  { path, values }: FilterDraft, fields: DataFields, before: EventFilters | null
): FilterValue[] {
  const kept = Object.entries(before ?? {}).find(([name, given]) => name === path && formatValues(given) === values)
  return kept?.[1] ?? readValues(values, fields.get(path.trim()))
}

/** Returns the filters to send; `null` without any. */
export function filtersOf (
  drafts: readonly FilterDraft[], fields: DataFields, before: EventFilters | null
): EventFilters | null {
  const filled = drafts.filter(isFilled)
  return filled.length === 0
    ? null
    : Object.fromEntries(filled.map((draft) => [draft.path.trim(), valuesOf(draft, fields, before)]))
}

function isFilled ({ path, values }: FilterDraft): boolean {
  return `${path}${values}`.trim() !== ''
}

/** Returns a reason why the API would reject the filters, if the form can find one. */
export function filtersFault (
  drafts: readonly FilterDraft[]
): 'filtersIncomplete' | 'filtersPath' | 'filtersTwice' | 'filtersMany' | undefined {
  const filled = drafts
    .filter(isFilled)
    .map(({ path, values }) => ({ path: path.trim(), count: readValues(values).length }))
  if (filled.some(({ path, count }) => path === '' || count === 0)) return 'filtersIncomplete'
  if (filled.some(({ path }) => !pathPattern.test(path))) return 'filtersPath'
  if (new Set(filled.map(({ path }) => path)).size < filled.length) return 'filtersTwice'
  return filled.some(({ count }) => count > maxValues) ? 'filtersMany' : undefined
}

const valueTypes = ['number', 'string', 'boolean', 'null'] as const

/** Groups values by type, as the JSON that the form sends. */
export function groupValues (
  values: readonly FilterValue[]
): Array<{ type: typeof valueTypes[number], values: string }> {
  const formatType = (type: string) =>
    values.filter((value) => typeOf(value) === type).map((value) => JSON.stringify(value)).join(', ')
  return valueTypes.map((type) => ({ type, values: formatType(type) })).filter(({ values }) => values !== '')
}
