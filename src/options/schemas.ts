import { type TObject, Type } from '@sinclair/typebox'
import { compileHostSchema, createAjv } from '../shared/ajv.js'
import { findDeprecationFault } from '../shared/deprecation.js'
import { expect, refuse } from '../shared/expect.js'
import { readLocale } from '../portal/settings.js'
import { type Reader, expectObject, text } from '../shared/read-options.js'
import { type EventSchemas, defaultEvents } from '../webhooks/events/catalogue.js'

/** Returns a catalogue of events. Throws `invalid_option` for a malformed name or schema. */
export function readEvents (value: unknown, path: string): EventSchemas {
  if (value === undefined || value === defaultEvents) return defaultEvents
  expect(typeof value === 'object' && value !== null, path, 'a map from event names to TypeBox schemas', value)
  expect(Object.keys(value).length > 0, path, 'at least one event', value)
  const ajv = createAjv({ useDefaults: false })
  for (const [name, schema] of Object.entries(value)) {
    expect(/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(name) && name.length <= 100, `${path}["${name}"]`, 'a name such as application.created', name)
    assertSchema(schema, `${path}["${name}"]`, ajv)
    assertDeprecation(schema, `${path}["${name}"]`)
    assertDescriptions(schema, `${path}["${name}"].descriptions`)
  }
  return value as EventSchemas
}

/** A schema may also be deprecated as in JSON Schema, by `true`, without a date. */
function assertDeprecation ({ deprecated }: TObject, path: string): void {
  if (deprecated === undefined || typeof deprecated === 'boolean') return
  const fault = findDeprecationFault(deprecated)
  if (fault !== null) refuse(`${path}.deprecated${fault.path}`, fault.expected, fault.value)
}

function assertDescriptions ({ descriptions = {} }: TObject, path: string): void {
  expectObject(descriptions, path, 'an object of descriptions by language')
  for (const [locale, description] of Object.entries(descriptions)) {
    expect(readLocale(locale, `${path}.${locale}`) === locale, `${path}.${locale}`, 'a language such as de or en-GB', locale)
    text(description, `${path}.${locale}`)
  }
}

/** Reads more fields of a resource that already has the fields `taken`. */
export function fields (...taken: readonly string[]): Reader<TObject> {
  return (value, path) => {
    if (value === undefined) return Type.Object({})
    assertSchema(value, path)
    for (const name of Object.keys(value.properties)) {
      expect(!taken.includes(name), `${path}.${name}`, 'a field that the contract does not have already', name)
    }
    return value
  }
}

function assertSchema (value: unknown, path: string, ajv = createAjv({ useDefaults: false })): asserts value is TObject {
  const isObjectSchema = typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value
  expect(isObjectSchema, path, 'a TypeBox object schema', value)
  try {
    // Tenants read the schema and its examples as JSON.
    JSON.stringify(value, refuseNonJson)
    compileHostSchema(ajv, value as TObject)
  } catch (error) {
    refuse(path, `a valid schema (${error instanceof Error ? error.message : String(error)})`, value)
  }
}

/** Throws for values that `JSON.stringify` leaves out or changes to null. An undefined property counts as absent. */
function refuseNonJson (this: unknown, name: string, value: unknown): unknown {
  const isLost = ['bigint', 'function', 'symbol'].includes(typeof value) || (value === undefined && Array.isArray(this)) ||
    (typeof value === 'number' && !Number.isFinite(value))
  if (isLost) throw new TypeError(`JSON cannot represent ${JSON.stringify(name)}, ${typeof value === 'number' ? value : `of type ${typeof value}`}`)
  return value
}
