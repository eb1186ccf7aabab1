import type { Static, TObject, TSchema, TUnsafe } from '@sinclair/typebox'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifyRequest } from 'fastify'
import fastJsonStringify from 'fast-json-stringify'
import type { CandidateRow, Id, IdKind, IdKinds, JobRow, PublishedFields, RowFields } from '../../ports/index.js'
import { Candidate, candidateOf, Job, jobOf } from '../../api/rows.js'
import { createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { isId, textIdRule } from '../../shared/ids.js'
import { LruMap } from '../../shared/cached.js'
import type { TenantIdLookup } from '../../shared/tenants.js'
import { Type } from '../../shared/typebox.js'
import { logOf } from '../log.js'
import { readCaller, type VisibleFields } from '../request.js'
import { InputError } from '../../shared/errors.js'

interface OwnFields {
  candidateFields: TObject
  jobFields: TObject
}

/** Candidates or jobs as the API publishes them. */
export interface PublishedRows<Row> {
  /** The schema of a row. */
  item: TUnsafe<Row>
  /** The names of all fields. */
  fields: readonly string[]
  /** Returns what to request from the storage. */
  select (request: FastifyRequest): Required<RowFields>
  /**
   * Writes the caller's visible fields of each row as JSON. Throws if one does not match the schema, because a
   * serializer would silently convert it. `method` is the port's method. The message contains no values.
   */
  writeRows (method: string, rows: readonly Row[], request: FastifyRequest): string[]
}

type Serialize<Value> = (value: Value) => string

/** Maximum number of fields of rows with an inexact number that are not logged again. */
const maxLogged = 1000

const inexactNumber = 'a number in a JSON value has more digits than JavaScript can represent, so the response has null'

/** Publishes candidates, with the host's own fields. */
export function publishCandidates (own: TObject, ids: IdKinds): PublishedRows<CandidateRow<Id, Id>> {
  return publish('candidate', withFields(candidateOf(ids), own), { id: 'candidate', source_id: 'source' }, ids)
}

/** Publishes jobs, with the host's own fields. */
export function publishJobs (own: TObject, ids: IdKinds): PublishedRows<JobRow<Id>> {
  return publish('job', withFields(jobOf(ids), own), { id: 'job' }, ids)
}

/** Writes a value; `null` if it is missing or unusual. */
type WriteField = (value: unknown) => string | null

function publish<Row extends object> (
  kind: keyof VisibleFields, item: TUnsafe<Row>, idFields: Record<string, keyof IdKinds>, ids: IdKinds
): PublishedRows<Row> {
  const { properties, required = [] } = item as TSchema as TObject
  const fields = Object.keys(properties)
  let ajv: ReturnType<typeof createAjv> | null = null
  const textFields = fields.filter((field) => isText(properties[field]))
  const logged = new LruMap<true>(maxLogged)
  // The rows and fields of each request in which the storage replaced a number with null.
  const inexact = new WeakMap<FastifyRequest, Set<string>>()

  // Compiled for each field, not for each list of fields: keys of one tenant can have any number of lists.
  const single = new Map<string, { validate: ValidateFunction, serialize: Serialize<unknown> }>()

  /** Returns the functions for one field; if `isInexact`, those that accept null in place of a number. */
  function functionsOf (field: string, isInexact: boolean) {
    const key = isInexact ? `inexact ${field}` : field
    const known = single.get(key)
    if (known !== undefined) return known
    const schema = isInexact ? acceptNull(properties[field]) : properties[field]
    ajv ??= createAjv({ useDefaults: false })
    const compiled = {
      validate: ajv.compile({
        type: 'object', properties: { [field]: checkedPart(schema) }, required: required.filter((name) => name === field)
      }),
      serialize: fastJsonStringify(schema as fastJsonStringify.Schema)
    }
    single.set(key, compiled)
    return compiled
  }

  function writerOf (field: string): { field: string, prefix: string, write: WriteField } {
    const id = idFields[field]
    return { field, prefix: `,${JSON.stringify(field)}:`, write: simpleWriter(properties[field], id === undefined ? null : ids[id]) }
  }

  const writers = fields.map(writerOf)

  /** Writes any field, or throws; `null` if it is missing. */
  function writeUnusual (method: string, row: Row, field: string, isInexact: boolean): string | null {
    const value: unknown = Reflect.get(row, field)
    const id = idFields[field]
    if (id !== undefined && (value !== null || field === 'id')) assertId(method, field, value, id, ids)
    const { validate, serialize } = functionsOf(field, isInexact)
    if (validate(row)) return value === undefined ? null : serialize(value)
    const fault = validate.errors?.[0] as ErrorObject
    const type = fault.keyword === 'required' ? '' : `is ${describe(fault.data)}, `
    throw new Error(`${method} returned a row whose ${formatFaultPath(fault)} ${type}${describeFault(fault)}`)
  }

  function isInexact (request: FastifyRequest, row: Row, field: string): boolean {
    return inexact.get(request)?.has(placeOf(String(Reflect.get(row, 'id')), field)) === true
  }

  /** Returns the fields that the caller can see, in the order of the schema; `null` for all. */
  function findVisible (request: FastifyRequest): string[] | null {
    const visible = readCaller(request).fields?.[kind] ?? null
    return visible && fields.filter((field) => field === 'id' || visible.includes(field))
  }

  return {
    item: { ...item, properties: mapValues(properties, (schema) => isNested(schema) ? acceptNull(schema) : schema) },
    fields,
    select (request) {
      const { tenantId: tenant } = readCaller(request)
      return {
        fields,
        textFields,
        onInexactNumber (row, field) {
          const places = inexact.get(request) ?? new Set()
          inexact.set(request, places.add(placeOf(row, field)))
          logged.getOrCreate(JSON.stringify([tenant, row, field]), () => {
            logOf(request).warn({ tenant, row: `${kind} ${row}`, field }, inexactNumber)
            return true
          })
        }
      }
    },
    writeRows (method, rows, request) {
      const visible = findVisible(request)
      const used = visible === null ? writers : writers.filter(({ field }) => visible.includes(field))
      const isUsual = !inexact.has(request)
      return rows.map((row) => {
        let text = ''
        for (const { field, prefix, write } of used) {
          const usual = isUsual ? write((row as Record<string, unknown>)[field]) : null
          const part = usual ?? writeUnusual(`${kind}s.${method}`, row, field, !isUsual && isInexact(request, row, field))
          if (part !== null) text += prefix + part
        }
        return `{${text.slice(1)}}`
      })
    }
  }
}

/** Text that JSON does not escape. */
const plainText = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

const quote: WriteField = (value) => {
  if (typeof value !== 'string') return null
  return plainText.test(value) ? `"${value}"` : JSON.stringify(value)
}

/** Writers of types, which write as a serializer does. */
const typeWriters: Record<string, WriteField> = {
  string: quote,
  integer: (value) => Number.isSafeInteger(value) ? String(value) : null,
  number: (value) => Number.isFinite(value) ? String(value) : null,
  boolean: (value) => typeof value === 'boolean' ? String(value) : null
}

const annotations = ['type', 'title', 'description', 'examples']

/** Returns the writer of a field's usual values, which checks them too. An id also follows the rules of its kind. */
function simpleWriter (schema: TSchema | undefined, idKind: IdKind | null): WriteField {
  const types = typesOf(schema ?? {})
  const [type, ...others] = types.filter((name) => name !== 'null')
  const write = typeWriters[String(type)]
  const hasRules = Object.keys(schema ?? {}).some((name) => !annotations.includes(name))
  if (write === undefined || others.length > 0 || hasRules) return () => null
  const writeValue: WriteField = idKind === null ? write : (value) => isId(value, idKind) ? write(value) : null
  return types.includes('null') ? (value) => value === null ? 'null' : writeValue(value) : writeValue
}

function placeOf (row: string, field: string): string {
  return `${field} ${row}`
}

const schemaMaps = ['properties', 'patternProperties', '$defs', 'definitions']
const values = ['enum', 'const', 'default', 'examples']

/** Returns a schema in which `change` has changed every part. */
function changeParts (schema: unknown, change: (part: TSchema) => object): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const changePart = (part: unknown): unknown => changeParts(part, change)
  if (Array.isArray(schema)) return schema.map(changePart)
  return Object.fromEntries(Object.entries(change(schema as TSchema)).map(([name, member]) => {
    if (values.includes(name)) return [name, member]
    return [name, schemaMaps.includes(name) ? mapValues(member, changePart) : changePart(member)]
  }))
}

function mapValues (values: object, change: (value: TSchema) => unknown): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
}

/**
 * Returns the part of a schema that rows must match: the response omits other fields, and a `format` changes no value.
 * Larger integers would have lost digits.
 */
function checkedPart (schema: unknown): unknown {
  return changeParts(schema, ({ format, additionalProperties, ...part }) => ({
    ...typesOf(part).includes('integer') ? { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } : {},
    ...additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties },
    ...part
  }))
}

/** Returns a schema that accepts null in place of each number, even several times in an array. */
function acceptNull (schema: unknown): unknown {
  return changeParts(schema, ({ uniqueItems, oneOf, ...part }) => {
    const types = typesOf(part)
    const isNumber = types.includes('number') || types.includes('integer')
    return {
      ...part,
      ...isNumber ? { type: [...new Set([...types, 'null'])] } : {},
      // Null can match several of the schemas.
      ...oneOf === undefined ? {} : { anyOf: oneOf }
    }
  })
}

function typesOf ({ type }: Partial<TSchema>): unknown[] {
  return [type].flat()
}

/** Returns whether a schema is for objects or arrays. */
function isNested (schema: TSchema): boolean {
  const { anyOf = [], oneOf = [], allOf = [] }: Partial<TSchema> = schema
  const isHere = typesOf(schema).some((type) => type === 'object' || type === 'array')
  return isHere || [anyOf, oneOf, allOf].flat().some(isNested)
}

/** Returns whether a schema is text or an array of text; either can be null. */
function isText (schema: TSchema | undefined): boolean {
  const { type, anyOf, items }: Partial<TSchema> = schema ?? {}
  if (Array.isArray(anyOf)) return anyOf.some(isText)
  return [type].flat().includes('string') || ([type].flat().includes('array') && isText(items))
}

const rules: Record<IdKind, string> = { integer: 'an integer up to 2^53-1', string: `a string of ${textIdRule}` }

function assertId (method: string, field: string, value: unknown, name: keyof IdKinds, ids: IdKinds): void {
  const kind = ids[name]
  if (isId(value, kind)) return
  throw new Error(
    `${method} returned a row whose ${field} is ${describe(value)}, expected ${rules[kind]}: ids.${name} is '${kind}'`
  )
}

/** Names only the type, because logs must not contain data. */
function describe (value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/**
 * Throws a 400 for a filter or `sort` by a published field that the caller cannot see, because the result would reveal
 * it. `filters` maps each filter to the field it reads.
 */
export function rejectHiddenFields (
  request: FastifyRequest,
  kind: keyof VisibleFields,
  published: readonly string[],
  filters: Record<string, string>
): void {
  const visible = readCaller(request).fields?.[kind] ?? null
  if (visible === null) return
  const query = request.query as Record<string, unknown>
  const sorted = String(query.sort)
    .split(',')
    .map((item) => ['sort', item.replace(/^-/, '')] as const)
  const filtered = Object.entries(filters).filter(([name]) => query[name] !== undefined)
  for (const [parameter, field] of [...filtered, ...sorted]) {
    // Unpublished fields, such as created_at, are the same for every key.
    const isHidden = field !== 'id' && published.includes(field) && !visible.includes(field)
    if (isHidden) throw new InputError(parameter, `the API key cannot read the field ${field}`, 'query')
  }
}

export function hasOwnFields ({ candidateFields, jobFields }: OwnFields): boolean {
  return Object.keys({ ...candidateFields.properties, ...jobFields.properties }).length > 0
}

/** Returns the fields that the API requests from the storage, and the kinds of ids. */
export function publishedFields (
  { candidateFields, jobFields, ids, tenantId }: OwnFields & { ids: IdKinds, tenantId: TenantIdLookup | null }
): PublishedFields {
  return {
    candidates: Object.keys(withFields(Candidate, candidateFields).properties),
    jobs: Object.keys(withFields(Job, jobFields).properties),
    ids,
    hasTenantIds: tenantId !== null
  }
}

/**
 * Adds the host's published fields to an item. Reads `required`, because each TypeBox marks optional fields
 * differently.
 */
function withFields<Item extends TObject> (item: Item, fields: TObject): TUnsafe<Static<Item>> {
  const required = [item, fields].flatMap(({ required = [] }) => required)
  return Type.Unsafe<Static<Item>>({ ...item, properties: { ...item.properties, ...fields.properties }, required })
}
