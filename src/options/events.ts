import type { TObject } from '@sinclair/typebox'
import { readLocale } from '../portal/messages.js'
import { createAjv } from '../shared/ajv.js'
import { findDeprecationFault } from '../shared/deprecation.js'
import { assertOption, rejectOption, assertObject, text } from '../shared/read-options.js'
import { assertHostSchema } from '../shared/host-schema.js'
import { type EventSchemas, defaultEvents } from '../webhooks/events/catalogue.js'

/** Returns a catalogue of events. Throws `invalid_option` for a malformed name or schema. */
export function readEvents (value: unknown, path: string): EventSchemas {
  if (value === undefined || value === defaultEvents) return defaultEvents
  assertOption(typeof value === 'object' && value !== null, path, 'a map from event names to TypeBox schemas', value)
  assertOption(Object.keys(value).length > 0, path, 'at least one event', value)
  const ajv = createAjv({ useDefaults: false })
  for (const [name, schema] of Object.entries(value)) {
    assertOption(
      /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(name) && name.length <= 100,
      `${path}["${name}"]`,
      'a name such as application.created',
      name
    )
    assertHostSchema(schema, `${path}["${name}"]`, ajv)
    assertDeprecation(schema, `${path}["${name}"]`)
    assertDescriptions(schema, `${path}["${name}"].descriptions`)
  }
  return value as EventSchemas
}

/** A schema may also be deprecated as in JSON Schema, by `true`, without a date. */
function assertDeprecation ({ deprecated }: TObject, path: string): void {
  if (deprecated === undefined || typeof deprecated === 'boolean') return
  const fault = findDeprecationFault(deprecated)
  if (fault !== null) rejectOption(`${path}.deprecated${fault.path}`, fault.expected, fault.value)
}

function assertDescriptions ({ descriptions = {} }: TObject, path: string): void {
  assertObject(descriptions, path, 'an object of descriptions by language')
  for (const [locale, description] of Object.entries(descriptions)) {
    assertOption(
      readLocale(locale, `${path}.${locale}`) === locale,
      `${path}.${locale}`,
      'a language such as de or en-GB',
      locale
    )
    text(description, `${path}.${locale}`)
  }
}
