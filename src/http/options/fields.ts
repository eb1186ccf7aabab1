import type { TObject } from '@sinclair/typebox'
import { assertOption, type Reader } from '../../shared/read-options.js'
import { assertHostSchema } from '../../shared/host-schema.js'
import type { TypeBoxObject } from '../../shared/typebox.js'
import { Type } from '../../shared/type-builder.js'

/** Reads more fields of a resource that already has the fields `taken`. */
export function fields (...taken: readonly string[]): Reader<TObject, TypeBoxObject> {
  return (value, path) => {
    if (value === undefined) return Type.Object({})
    assertHostSchema(value, path)
    for (const name of Object.keys(value.properties)) {
      assertOption(!taken.includes(name), `${path}.${name}`, 'a field that the contract does not have already', name)
    }
    return value
  }
}
