import type { ErrorObject, ValidateFunction } from 'ajv'
import fastJsonStringify from 'fast-json-stringify'
import type { Static, TSchema } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import { compileSchema, createAjv, describeFault, formatFaultPath } from '../../shared/ajv.js'
import { isStorableJson } from '../../shared/text.js'

/**
 * Returns a reader of input: checks a copy, as JSON would carry it, by the schema of the API and fills in the defaults.
 * Throws a `Refusal`.
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

/** Returns a function that copies what the API would send of a value: the fields of the schema. */
export function createResultReader<Value> (schema: TSchema): (value: Value) => Value {
  let serialize: ((value: Value) => string) | null = null
  return (value) => {
    serialize ??= fastJsonStringify(schema)
    return JSON.parse(serialize(value))
  }
}

function copyAsJson (input: unknown): unknown {
  const copy = tryCopy(input)
  if (copy === undefined) throw new Refusal('', 'is not JSON')
  if (!isStorableJson(copy)) throw new Refusal('', 'holds a NUL or half of a surrogate pair')
  return copy
}

function tryCopy (input: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(input))
  } catch {
    return undefined
  }
}
