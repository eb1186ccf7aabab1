import type { TObject } from '@sinclair/typebox'
import { expect } from '../../shared/expect.js'
import { assertHostSchema } from '../../shared/host-schema.js'
import type { Reader } from '../../shared/read-options.js'
import type { TypeBoxObject } from '../../shared/typebox.js'
import { Type } from '../../shared/type-builder.js'

/** Reads more fields of a resource that already has the fields `taken`. */
export function fields (...taken: readonly string[]): Reader<TObject, TypeBoxObject> {
  return (value, path) => {
    if (value === undefined) return Type.Object({})
    assertHostSchema(value, path)
    for (const name of Object.keys(value.properties)) {
      expect(!taken.includes(name), `${path}.${name}`, 'a field that the contract does not have already', name)
    }
    return value
  }
}
