import { type TObject, Type } from '@sinclair/typebox'
import { compileSchema, createAjv } from '../shared/ajv.js'
import { expect, refuse } from '../shared/expect.js'
import type { Reader } from '../shared/read-options.js'
import { type EventCatalogue, defaultEvents } from '../webhooks/events/catalogue.js'

/** Returns a catalogue of events. Throws `invalid_option` for a malformed name or schema. */
export function readEvents (value: unknown, path: string): EventCatalogue {
  if (value === undefined || value === defaultEvents) return defaultEvents
  expect(typeof value === 'object' && value !== null, path, 'a map from event names to TypeBox schemas', value)
  expect(Object.keys(value).length > 0, path, 'at least one event', value)
  const ajv = createAjv({ useDefaults: false })
  for (const [name, schema] of Object.entries(value)) {
    expect(/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(name) && name.length <= 100, `${path}["${name}"]`, 'a name such as application.created', name)
    assertSchema(schema, `${path}["${name}"]`, ajv)
  }
  return value as EventCatalogue
}

/** Reads more fields of a resource that already has the fields `taken`. */
export function fields (...taken: readonly string[]): Reader<TObject> {
  return (value = Type.Object({}), path) => {
    assertSchema(value, path)
    for (const name of Object.keys(value.properties)) {
      expect(!taken.includes(name), `${path}.${name}`, 'a field that the contract does not have already', name)
    }
    return value
  }
}

function assertSchema (value: unknown, path: string, ajv = createAjv({ useDefaults: false })): asserts value is TObject {
  const isObjectSchema = typeof value === 'object' && value !== null && 'type' in value && value.type === 'object'
  expect(isObjectSchema, path, 'a TypeBox object schema', value)
  try {
    // Tenants read the schema and its examples as JSON.
    JSON.stringify(value, refuseNonJson)
    compileSchema(ajv, value as TObject)
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
