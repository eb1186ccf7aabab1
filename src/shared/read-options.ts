import { RecruitingApiError, isRecruitingApiError } from '../errors.js'
import { expect, expectInteger, expectNames } from './expect.js'
import { omitUndefined } from './fields.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from './text.js'

/** Reads the value of an option; the default applies if it is `undefined`. Throws `invalid_option` with the path. */
export type Reader<Value> = (value: unknown, path: string) => Value

/** One reader for each option. */
export type Readers<Settings> = { readonly [Name in keyof Settings]-?: Reader<Settings[Name]> }

/** Reads every option with its reader. Throws `invalid_option` for non-objects and unknown names. */
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

/** Reads the argument of a call like options, but throws `invalid_input`. */
export function readInput<Settings extends object> (input: unknown, readers: Readers<Settings>): Settings {
  try {
    return readOptions(input, readers)
  } catch (error) {
    if (isRecruitingApiError(error)) throw new RecruitingApiError('invalid_input', error.message, error.field)
    throw error
  }
}

/** Throws `invalid_option` unless the value is an object that can hold options. */
export function expectObject (value: unknown, path: string, expected = 'an object'): asserts value is object {
  expect(typeof value === 'object' && value !== null && !Array.isArray(value), path, expected, value)
}

/** Returns a reader of integers from `minimum` to `maximum`. Without a default, the option is required. */
export function integer (minimum: number, maximum: number, usual?: number): Reader<number> {
  return (value = usual, path) => {
    expectInteger(value, path, minimum, maximum)
    return value
  }
}

/** Returns a reader of booleans. */
export function flag (usual: boolean): Reader<boolean> {
  return (value = usual, path) => {
    expect(typeof value === 'boolean', path, 'a boolean', value)
    return value
  }
}

/** Returns a reader of one of these texts. Without a default, the option is required. */
export function choice<const Value extends string> (values: readonly Value[], usual?: NoInfer<Value>): Reader<Value> {
  return (value = usual, path) => {
    const known = values.find((one) => one === value)
    expect(known !== undefined, path, values.map((one) => `'${one}'`).join(' or '), value)
    return known
  }
}

/** Returns a reader of an option that may be absent. */
export function optional<Value> (read: Reader<Value>): Reader<Value | undefined> {
  return (value, path) => value === undefined ? undefined : read(value, path)
}

/** Returns a reader of objects, with one reader for each property. Absent properties stay absent. */
export function properties (readers: Readers<Record<string, unknown>>): Reader<object> {
  return (value, path) => omitUndefined(readOptions(value, readers, path))
}

/** Reads text that is not empty. */
export function text (value: unknown, path: string): string {
  expect(typeof value === 'string' && value !== '', path, 'text', value)
  return value
}

/** Returns a reader of text of 1 to `maxLength` characters without control characters. */
export function plainText (maxLength: number): Reader<string> {
  return (value, path) => {
    expect(isPlainText(value, maxLength), path, `text of 1 to ${maxLength} characters without control characters`, value)
    return value
  }
}

/** Reads a tenant slug. */
export function slug (value: unknown, path: string): string {
  expect(isTenantSlug(value), path, tenantSlugRule, value)
  return value
}

/** Returns a reader of functions; `null` if the option is absent. */
export function optionalFunction<Value> (expected = 'a function'): Reader<Value | null> {
  return (value = null, path) => {
    expect(value === null || typeof value === 'function', path, expected, value)
    return value as Value | null
  }
}
