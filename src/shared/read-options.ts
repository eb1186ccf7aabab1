import { expect, expectInteger, expectNames } from './expect.js'
import { omitUndefined } from './omit-undefined.js'

/** Returns the value of an option, or its default for `undefined`. Throws `invalid_option`, which names the path. */
export type Reader<Value> = (value: unknown, path: string) => Value

/** One reader for each option. */
export type Readers<Settings> = { readonly [Name in keyof Settings]-?: Reader<Settings[Name]> }

/** Returns every option as its reader gives it. Throws `invalid_option` for non-objects and unknown names. */
export function readOptions<Settings extends object> (options: unknown, readers: Readers<Settings>, path = ''): Settings {
  expectObject(options, path === '' ? 'options' : path)
  const prefix = path === '' ? '' : `${path}.`
  expectNames(options, readers, prefix)
  const settings: Partial<Settings> = {}
  for (const name of Object.keys(readers) as Array<keyof Settings & string>) {
    settings[name] = readers[name](Reflect.get(options, name), `${prefix}${name}`)
  }
  return settings as Settings
}

/** Throws `invalid_option` unless the value is an object that can hold options. */
export function expectObject (value: unknown, path: string, expected = 'an object'): asserts value is object {
  expect(typeof value === 'object' && value !== null && !Array.isArray(value), path, expected, value)
}

/** Reads an integer from `minimum` to `maximum`, which must be given if there is no default. */
export function integer (minimum: number, maximum: number, usual?: number): Reader<number> {
  return (value = usual, path) => {
    expectInteger(value, path, minimum, maximum)
    return value
  }
}

/** Reads a boolean. */
export function flag (usual: boolean): Reader<boolean> {
  return (value = usual, path) => {
    expect(typeof value === 'boolean', path, 'a boolean', value)
    return value
  }
}

/** Reads an option that may be absent and then stays so. */
export function optional<Value> (read: Reader<Value>): Reader<Value | undefined> {
  return (value, path) => value === undefined ? undefined : read(value, path)
}

/** Reads an object by a reader for each property. Absent properties stay absent. */
export function properties (readers: Readers<Record<string, unknown>>): Reader<object> {
  return (value, path) => omitUndefined(readOptions(value, readers, path))
}

/** Reads a text that is not empty. */
export function text (value: unknown, path: string): string {
  expect(typeof value === 'string' && value !== '', path, 'text', value)
  return value
}

/** Reads a function, `null` if it is absent. */
export function optionalFunction<Value> (expected = 'a function'): Reader<Value | null> {
  return (value = null, path) => {
    expect(value === null || typeof value === 'function', path, expected, value)
    return value as Value | null
  }
}
