import type { TObject, TSchema, TUnsafe } from '@sinclair/typebox'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifyRequest } from 'fastify'
import fastJsonStringify from 'fast-json-stringify'
import type { CandidateRow, Id, IdKind, IdKinds, JobRow, RowFields } from '../../ports/index.js'
import { createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { isId, textIdRule } from '../../shared/ids.js'
import { LruMap } from '../../shared/cached.js'
import { logOf } from '../log.js'
import { readCaller, stateOf, type VisibleFields } from '../request.js'
import { InputError } from '../../errors.js'

/** Candidates or jobs as the API publishes them. */
export interface PublishedRows<Row> {
  /** The schema of a row. */
  item: TUnsafe<Row>
  /** The names of all fields. */
  fields: readonly string[]
  /** Returns what to request from the storage. */
  select (request: FastifyRequest): Required<RowFields>
  /**
   * Throws if a row's visible fields do not match the schema, because the serializer would silently convert them.
   * `method` is the port's method. The message contains no values.
   */
  assertRows (method: string, rows: readonly Row[], request: FastifyRequest): void
  /**
   * Limits the response to the caller's visible fields. `write` formats the response with a function that formats a
   * row.
   */
  limitFields<Payload> (request: FastifyRequest, write: (payload: Payload, writeRow: Serialize<Row>) => string): void
}

type Serialize<Value> = (value: Value) => string

/** Maximum number of fields of rows with an inexact number that are not logged again. */
const maxInexact = 1000

const inexactNumber = 'a number in a JSON value has more digits than JavaScript can represent, so the response has null'

/** Publishes candidates with the fields of `item`. */
export function publishCandidates (
  item: TUnsafe<CandidateRow<Id, Id>>, ids: IdKinds
): PublishedRows<CandidateRow<Id, Id>> {
  return publish('candidate', item, (method, { id, source_id: sourceId }) => {
    assertId(method, 'id', id, 'candidate', ids)
    if (sourceId !== null) assertId(method, 'source_id', sourceId, 'source', ids)
  })
}

/** Publishes jobs with the fields of `item`. */
export function publishJobs (item: TUnsafe<JobRow<Id>>, ids: IdKinds): PublishedRows<JobRow<Id>> {
  return publish('job', item, (method, { id }) => assertId(method, 'id', id, 'job', ids))
}

function publish<Row extends object> (
  kind: keyof VisibleFields, item: TUnsafe<Row>, assertIds: (method: string, row: Row) => void
): PublishedRows<Row> {
  const { properties, required = [] } = item as TSchema as TObject
  const fields = Object.keys(properties)
  let ajv: ReturnType<typeof createAjv> | null = null
  let validateWhole: ValidateFunction | null = null
  const textFields = fields.filter((field) => isText(properties[field]))
  const inexact = new LruMap<true>(maxInexact)

  /** Compiles a validator of these fields. */
  function compile (checked: readonly string[]): ValidateFunction {
    ajv ??= createAjv({ useDefaults: false })
    return ajv.compile({
      type: 'object',
      properties: Object.fromEntries(checked.map((field) => [field, checkedPart(properties[field])])),
      required: required.filter((field) => checked.includes(field))
    })
  }

  // Compiled for each field, not for each list of fields: keys of one tenant can have any number of lists.
  const limited = new Map<string, { validate: ValidateFunction, serialize: Serialize<unknown> }>()

  function limitedField (field: string) {
    const known = limited.get(field)
    if (known !== undefined) return known
    const schema = properties[field] as object as fastJsonStringify.Schema
    const compiled = { validate: compile([field]), serialize: fastJsonStringify(schema) }
    limited.set(field, compiled)
    return compiled
  }

  /** Returns the fields that the caller can see, in the order of the schema; `null` for all. */
  function findVisible (request: FastifyRequest): string[] | null {
    const visible = readCaller(request).fields?.[kind] ?? null
    return visible && fields.filter((field) => field === 'id' || visible.includes(field))
  }

  return {
    item,
    fields,
    select (request) {
      const { tenantId: tenant } = readCaller(request)
      return {
        fields,
        textFields,
        onInexactNumber (row, field) {
          inexact.getOrCreate(JSON.stringify([tenant, row, field]), () => {
            logOf(request).warn({ tenant, row: `${kind} ${row}`, field }, inexactNumber)
            return true
          })
        }
      }
    },
    assertRows (name, rows, request) {
      const method = `${kind}s.${name}`
      const visible = findVisible(request)
      const validators = visible?.map((field) => limitedField(field).validate) ?? [validateWhole ??= compile(fields)]
      for (const row of rows) {
        assertIds(method, row)
        const failed = validators.find((validate) => !validate(row))
        if (failed === undefined) continue
        const fault = failed.errors?.[0] as ErrorObject
        const type = fault.keyword === 'required' ? '' : `is ${describe(fault.data)}, `
        throw new Error(`${method} returned a row whose ${formatFaultPath(fault)} ${type}${describeFault(fault)}`)
      }
    },
    limitFields (request, write) {
      const visible = findVisible(request)
      if (visible === null) return
      const writers = visible.map((field) => [field, `${JSON.stringify(field)}:`, limitedField(field).serialize] as const)
      const writeRow: Serialize<Row> = (row) => {
        const members = writers.flatMap(([field, name, serialize]) => {
          const value: unknown = Reflect.get(row, field)
          return value === undefined ? [] : [name + serialize(value)]
        })
        return `{${members.join()}}`
      }
      stateOf(request).serialize = (payload) => write(payload as Parameters<typeof write>[0], writeRow)
    }
  }
}

const schemaMaps = ['properties', 'patternProperties', '$defs', 'definitions']
const values = ['enum', 'const', 'default', 'examples']

/**
 * Returns the part of a schema that rows must match: the response omits other fields, and a `format` changes no value.
 * Larger integers would have lost digits.
 */
function checkedPart (schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(checkedPart)
  const members = Object.entries(schema).flatMap(([name, member]) => {
    if (name === 'format' || (name === 'additionalProperties' && member === false)) return []
    if (values.includes(name)) return [[name, member]]
    if (!schemaMaps.includes(name)) return [[name, checkedPart(member)]]
    return [[name, Object.fromEntries(Object.entries(member).map(([key, value]) => [key, checkedPart(value)]))]]
  })
  const { type } = schema as TSchema
  const bounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
  return { ...[type].flat().includes('integer') ? bounds : {}, ...Object.fromEntries(members) }
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
