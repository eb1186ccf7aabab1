import type { TObject } from '@sinclair/typebox'
import { compileHostSchema, createAjv } from './ajv.js'
import { assertOption, rejectOption } from './read-options.js'

/** Throws `invalid_option` unless the value is a valid schema of an object. */
export function assertHostSchema (
  value: unknown,
  path: string,
  ajv = createAjv({ useDefaults: false })
): asserts value is TObject {
  const isObjectSchema =
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value
  assertOption(isObjectSchema, path, 'a TypeBox object schema', value)
  try {
    // Tenants read the schema and its examples as JSON.
    JSON.stringify(value, refuseNonJson)
    compileHostSchema(ajv, value as TObject)
  } catch (error) {
    rejectOption(path, `a valid schema (${error instanceof Error ? error.message : String(error)})`, value)
  }
}

/** Throws for values that `JSON.stringify` leaves out or changes to null. An undefined property counts as absent. */
function refuseNonJson (this: unknown, name: string, value: unknown): unknown {
  const isLost =
    ['bigint', 'function', 'symbol'].includes(typeof value) ||
    (value === undefined && Array.isArray(this)) ||
    (typeof value === 'number' && !Number.isFinite(value))
  if (isLost) {
    throw new TypeError(
      `JSON cannot represent ${JSON.stringify(name)}, ${typeof value === 'number' ? value : `of type ${typeof value}`}`
    )
  }
  return value
}
