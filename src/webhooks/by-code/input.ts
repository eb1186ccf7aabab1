import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Static, TSchema } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import { compileSchema, createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { findJsonFault } from '../../shared/text.js'

/**
 * Returns a reader of input: it makes a copy as JSON would, validates it against the API's schema and fills in the
 * defaults. It throws a `Refusal`.
 */
export function createInputReader<Schema extends TSchema> (schema: Schema): (input: unknown) => Static<Schema> {
  // Compiled with the first call, because most processes make none.
  let validate: ValidateFunction | null = null
  return (input = {}) => {
    validate ??= compileSchema(createAjv({ useDefaults: true }), schema)
    const copy = copyAsJson(input)
    if (validate(copy)) return copy
    const [fault] = validate.errors as [ErrorObject]
    throw new Refusal(formatFaultPath(fault), describeFault(fault))
  }
}

/**
 * Copies what the API would send of a value: the fields of the schema. Rows of a storage may have more, such as a
 * secret.
 */
export function pickPublished<Value> (schema: TSchema, value: Value): Value {
  return pick(schema, value) as Value
}

function pick (schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => pick(schema.items, item))
  if (typeof value !== 'object' || value === null) return value
  // Only headers and filters have a schema without properties.
  if (schema.properties === undefined) return { ...value }
  const fields = Object.entries<TSchema>(schema.properties).filter(([name]) => Reflect.get(value, name) !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, pick(field, Reflect.get(value, name))]))
}

function copyAsJson (input: unknown): unknown {
  const copy = tryCopy(input)
  if (copy === undefined) throw new Refusal('', 'is not JSON')
  const fault = findJsonFault(copy)
  if (fault !== null) throw new Refusal(fault.field, fault.message)
  return copy
}

function tryCopy (input: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(input))
  } catch {
    return undefined
  }
}
