import type { EventFilters, EventType, FilterValue } from './api.js'
import { parseJson } from './text.js'

/** A filter in the form: a path, and its values separated by commas. One without both is left out. */
export interface FilterDraft {
  path: string
  values: string
}

export const maxFilters = 10
const maxValues = 50

/** The fields of the data of events, by path, each with the types of its values: none if they are not known. */
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
 * Returns the fields that filters of these event types can use: from their schemas, and from their examples where
 * those name none.
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
  // Filters do not lead into arrays, and no value equals an object.
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

/** Returns the type as JSON Schema names it. */
function typeOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Returns the filters as the form shows them. */
export function draftsOf (filters: EventFilters | null): FilterDraft[] {
  return Object.entries(filters ?? {}).map(([path, values]) => ({ path, values: formatValues(values) }))
}

/** Formats values so that they are read as the same ones: text has quotes only where it needs them. */
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
  // The API takes no larger numbers: these digits are text.
  const isSafe = typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
  return isSafe && !isText ? value : part
}

/**
 * Returns the values of a filter in the form. One that is as in `before`, the filters of the webhook, keeps its
 * values.
 */
export function valuesOf (
  { path, values }: FilterDraft,
  fields: DataFields,
  before: EventFilters | null
): FilterValue[] {
  const kept = Object.entries(before ?? {}).find(([name, given]) => name === path && formatValues(given) === values)
  return kept?.[1] ?? readValues(values, fields.get(path.trim()))
}

/** Returns the filters to send; `null` without any. */
export function filtersOf (
  drafts: readonly FilterDraft[],
  fields: DataFields,
  before: EventFilters | null
): EventFilters | null {
  const filled = drafts.filter(isFilled)
  return filled.length === 0
    ? null
    : Object.fromEntries(filled.map((draft) => [draft.path.trim(), valuesOf(draft, fields, before)]))
}

function isFilled ({ path, values }: FilterDraft): boolean {
  return `${path}${values}`.trim() !== ''
}

/** Finds what the API would reject, as far as the form can tell. */
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

/** Groups values by their type, as JSON: what the form will send. */
export function groupValues (
  values: readonly FilterValue[]
): Array<{ type: typeof valueTypes[number], values: string }> {
  const formatType = (type: string) =>
    values.filter((value) => typeOf(value) === type).map((value) => JSON.stringify(value)).join(', ')
  return valueTypes.map((type) => ({ type, values: formatType(type) })).filter(({ values }) => values !== '')
}
