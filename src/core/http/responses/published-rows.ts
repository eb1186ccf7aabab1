import type { Static, TObject, TSchema, TUnsafe } from '@sinclair/typebox'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifyRequest } from 'fastify'
import fastJsonStringify from 'fast-json-stringify'
import type { CandidateRow, Id, IdKind, IdKinds, JobRow, PublishedFields, RowFields } from '../../ports/index.js'
import {
  Candidate, candidateList, candidateOf, type FieldUses, Job, jobList, jobOf, readOwnFilters
} from '../../api/rows.js'
import { createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { mapValues } from '../../shared/fields.js'
import { idRules, isId } from '../../shared/ids.js'
import { LruMap } from '../../shared/cached.js'
import type { TenantIdLookup } from '../../shared/tenants.js'
import { Type } from '../../shared/typebox.js'
import { logOf } from '../log.js'
import { readCaller, type VisibleFields } from '../request.js'

interface OwnFields {
  candidateFields: TObject
  jobFields: TObject
}

interface PublishedSettings extends OwnFields {
  candidateFilters: FieldUses
  jobFilters: FieldUses
  ids: IdKinds
  tenantId: TenantIdLookup | null
}

/** Candidates or jobs as the API publishes them. */
export type PublishedRows<Row extends object> = ReturnType<typeof publish<Row>>

/** Maximum number of fields of rows with an inexact number that are not logged again. */
const maxLogged = 1000

const inexactNumber = 'a number in a JSON value has more digits than JavaScript can represent, so the response has null'

export function publishCandidates (own: TObject, ids: IdKinds): PublishedRows<CandidateRow<Id, Id>> {
  return publish('candidate', withFields(candidateOf(ids), own), { id: 'candidate', source_id: 'source' }, ids)
}

export function publishJobs (own: TObject, ids: IdKinds): PublishedRows<JobRow<Id>> {
  return publish('job', withFields(jobOf(ids), own), { id: 'job' }, ids)
}

/** Writes a field with its name, or throws; an empty string if it is missing. */
type WriteUnusual<Row> = (row: Row, field: string) => string

/** Writes some fields with their names. */
type WriteFields<Row> = (row: Row, unusual: WriteUnusual<Row>) => string

function publish<Row extends object> (
  kind: keyof VisibleFields, item: TUnsafe<Row>, idFields: Record<string, keyof IdKinds>, ids: IdKinds
) {
  const { properties, required = [] } = item as TSchema as TObject
  // `id` is first, also before names that are numbers.
  const fields = [...new Set(['id', ...Object.keys(properties)])]
  let ajv: ReturnType<typeof createAjv> | null = null
  const textFields = fields.filter((field) => isText(properties[field]))
  const logged = new LruMap<true>(maxLogged)
  // The rows and fields of each request in which the storage replaced a number with null.
  const inexact = new WeakMap<FastifyRequest, Set<string>>()

  // Compiled for each field, not for each list of fields: keys of one tenant can have any number of lists.
  const single = new Map<string, { validate: ValidateFunction, serialize: (value: unknown) => string }>()

  /** Returns the functions for one field; if `isInexact`, those that accept null in place of a number. */
  function functionsOf (field: string, isInexact: boolean) {
    const key = isInexact ? `inexact ${field}` : field
    const known = single.get(key)
    if (known !== undefined) return known
    const schema = isInexact ? acceptNull(properties[field]) : properties[field]
    ajv ??= createAjv({ useDefaults: false })
    const compiled = {
      validate: ajv.compile({
        type: 'object',
        properties: { [field]: checkedPart(schema) },
        required: required.filter((name) => name === field)
      }),
      serialize: fastJsonStringify(schema as fastJsonStringify.Schema)
    }
    single.set(key, compiled)
    return compiled
  }

  const whole = compileWriter<Row>(fields.map(describeField))
  const parts = new Map<string, WriteFields<Row>>()

  function describeField (field: string): WrittenField {
    const id = idFields[field]
    return { name: field, schema: properties[field] ?? {}, idKind: id === undefined ? null : ids[id] }
  }

  /** Returns the writer of one field: keys of one tenant can have any number of lists of fields. */
  function partOf (field: string): WriteFields<Row> {
    const known = parts.get(field) ?? compileWriter<Row>([describeField(field)])
    parts.set(field, known)
    return known
  }

  function writeUnusual (method: string, row: Row, field: string, isInexact: boolean): string {
    const value: unknown = Reflect.get(row, field)
    const id = idFields[field]
    if (id !== undefined && (value !== null || field === 'id')) assertId(method, field, value, id, ids)
    const { validate, serialize } = functionsOf(field, isInexact)
    if (validate(row)) return value === undefined ? '' : prefixOf(field) + serialize(value)
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
    item: Type.Unsafe<Row>({
      ...item, properties: mapValues(properties, (schema) => isNested(schema) ? acceptNull(schema) : schema)
    }),
    /** Returns which fields the caller cannot see; `null` if there are none. */
    hiddenFrom (request: FastifyRequest): ((field: string) => boolean) | null {
      const visible = findVisible(request)
      // Unpublished fields, such as created_at, are the same for every key.
      return visible && ((field) => fields.includes(field) && !visible.includes(field))
    },
    /** Returns what to request from the storage. */
    select (request: FastifyRequest): Required<RowFields> {
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
    /**
     * Writes the caller's visible fields of each row as JSON. Throws if one does not match the schema, because a
     * serializer would silently convert it. `method` is the port's method. The message contains no values.
     */
    writeRows (method: string, rows: readonly Row[], request: FastifyRequest): string[] {
      const visible = findVisible(request)
      const isUsual = !inexact.has(request)
      const write: WriteUnusual<Row> = (row, field) =>
        writeUnusual(`${kind}s.${method}`, row, field, !isUsual && isInexact(request, row, field))
      const writers = isUsual
        ? visible?.map(partOf) ?? [whole]
        : (visible ?? fields).map((field): WriteFields<Row> => (row) => write(row, field))
      return rows.map((row) => {
        let text = ''
        for (const writeFields of writers) text += writeFields(row, write)
        return `${text}}`
      })
    }
  }
}

interface WrittenField {
  name: string
  schema: Partial<TSchema>
  /** `null` unless it is an id. */
  idKind: IdKind | null
}

/** Text that JSON does not escape. */
const plainText = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** For each type, the test of a usual value `v`, and how to write it as a serializer does. */
const usualValues: Record<string, [test: string, text: string]> = {
  string: ["typeof v === 'string'", '(plainText.test(v) ? \'"\' + v + \'"\' : JSON.stringify(v))'],
  integer: ['Number.isSafeInteger(v)', 'v'],
  number: ['Number.isFinite(v)', 'v'],
  boolean: ["typeof v === 'boolean'", 'v']
}

const annotations = ['type', 'title', 'description', 'examples']

/**
 * Compiles a function that checks and writes fields in one pass, as ajv and fast-json-stringify compile schemas. The
 * function calls its second argument for unusual values.
 */
function compileWriter<Row> (fields: readonly WrittenField[]): WriteFields<Row> {
  const steps = fields.map(({ name, schema, idKind }) => {
    const types = typesOf(schema)
    const [type, ...others] = types.filter((one) => one !== 'null')
    const usual = usualValues[String(type)]
    const hasRules = Object.keys(schema).some((keyword) => !annotations.includes(keyword))
    const field = JSON.stringify(name)
    if (usual === undefined || others.length > 0 || hasRules) return `text += unusual(row, ${field})`
    const prefix = JSON.stringify(prefixOf(name))
    const test = idKind === 'string' ? "isId(v, 'string')" : usual[0]
    const written = `${test} ? ${prefix} + ${usual[1]} : unusual(row, ${field})`
    const withNull = `v === null ? ${JSON.stringify(`${prefixOf(name)}null`)} : ${written}`
    return `v = row[${field}]; text += ${types.includes('null') ? withNull : written}`
  })
  // Contains only names, quoted as JSON.
  // eslint-disable-next-line no-new-func
  return new Function('plainText', 'isId', `
    return (row, unusual) => { let v, text = ''; ${steps.join('; ')}; return text }`)(plainText, isId)
}

function prefixOf (field: string): string {
  return `${field === 'id' ? '{' : ','}${JSON.stringify(field)}:`
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
  return mapValues({ ...change(schema as TSchema) }, (member: unknown, name) => {
    if (values.includes(name)) return member
    return schemaMaps.includes(name) ? mapValues(Object(member), changePart) : changePart(member)
  })
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

function assertId (method: string, field: string, value: unknown, name: keyof IdKinds, ids: IdKinds): void {
  const kind = ids[name]
  if (isId(value, kind)) return
  throw new Error(
    `${method} returned a row whose ${field} is ${describe(value)}, expected ${idRules[kind]}: ids.${name} is '${kind}'`
  )
}

/** Names only the type, because logs must not contain data. */
function describe (value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

export function hasOwnFields ({ candidateFields, jobFields }: OwnFields): boolean {
  return Object.keys({ ...candidateFields.properties, ...jobFields.properties }).length > 0
}

/**
 * Returns the fields and filters that the API requests from the storage, and the kinds of ids. Throws `invalid_option`
 * for a filter that its field cannot have.
 */
export function publishedFields (
  { candidateFields, candidateFilters, jobFields, jobFilters, ids, tenantId }: PublishedSettings
): Required<PublishedFields> {
  return {
    candidates: Object.keys(withFields(Candidate, candidateFields).properties),
    jobs: Object.keys(withFields(Job, jobFields).properties),
    ids,
    filters: {
      candidates: readOwnFilters(candidateList, candidateFields, candidateFilters, 'candidateFilters'),
      jobs: readOwnFilters(jobList, jobFields, jobFilters, 'jobFilters')
    },
    hasTenantIds: tenantId !== null
  }
}

/** Adds the host's fields to an item, by `required`: each TypeBox marks optional fields differently. */
function withFields<Item extends TObject> (item: Item, fields: TObject): TUnsafe<Static<Item>> {
  const required = [item, fields].flatMap(({ required = [] }) => required)
  return Type.Unsafe<Static<Item>>({ ...item, properties: { ...item.properties, ...fields.properties }, required })
}
