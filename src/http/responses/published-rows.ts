import type { TObject, TSchema, TUnsafe } from '@sinclair/typebox'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FastifyRequest } from 'fastify'
import type { CandidateRow, Id, IdKind, IdKinds, JobRow, RowFields } from '../../ports/index.js'
import { createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { isId, textIdRule } from '../../shared/ids.js'
import { LruMap } from '../../shared/lru-map.js'
import { readCaller, type VisibleFields } from '../request.js'

/** Candidates or jobs as the API publishes them. */
export interface PublishedRows<Row> {
  /** The schema of a row. */
  item: TUnsafe<Row>
  /** What to request from the storage. */
  selected: Required<RowFields>
  /**
   * Throws if the fields of a row that the caller sees do not fit the schema: the serializer would silently convert
   * them. `method` is that of the port. The message contains no value.
   */
  assertRows (method: string, rows: readonly Row[], request: FastifyRequest): void
}

/** Lists of fields whose validators are kept. */
const maxValidators = 100

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
  const validators = new LruMap<ValidateFunction>(maxValidators)

  /** Compiles a validator of the fields that a caller sees. */
  function compile (visible: readonly string[]): ValidateFunction {
    const checked = fields.filter((field) => visible.includes(field))
    return createAjv({ useDefaults: false }).compile({
      type: 'object',
      properties: Object.fromEntries(checked.map((field) => [field, checkedPart(properties[field])])),
      required: required.filter((field) => checked.includes(field))
    })
  }

  return {
    item,
    selected: { fields, textFields: fields.filter((field) => isText(properties[field])) },
    assertRows (name, rows, request) {
      const method = `${kind}s.${name}`
      const visible = readCaller(request).fields?.[kind] ?? fields
      const validate = validators.getOrCreate(visible.join('\n'), () => compile(visible))
      for (const row of rows) {
        assertIds(method, row)
        if (validate(row)) continue
        const fault = validate.errors?.[0] as ErrorObject
        const type = fault.keyword === 'required' ? '' : `is ${describe(fault.data)}, `
        throw new Error(`${method} returned a row whose ${formatFaultPath(fault)} ${type}${describeFault(fault)}`)
      }
    }
  }
}

const schemaMaps = ['properties', 'patternProperties', '$defs', 'definitions']
const values = ['enum', 'const', 'default', 'examples']

/**
 * Returns the part of a schema that rows must fit: further fields are left out of the response, and a `format` changes
 * no value. Larger integers would have lost digits.
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

/** Whether a schema is of text, or of an array of text; either may be null. */
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

/** Names the type only: the log should hold no data. */
function describe (value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}
