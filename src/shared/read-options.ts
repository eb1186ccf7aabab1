import { RecruitingApiError, isRecruitingApiError } from '../errors.js'
import { expect, expectInteger, expectNames } from './expect.js'
import { omitUndefined } from './fields.js'
import { isPlainText } from './text.js'

/**
 * Checks the value of an option and returns its setting; the default applies if it is `undefined`. `Input` is the
 * type that hosts see, but values may be anything. Throws `invalid_option` with the path.
 */
export type Reader<Value, Input = Value> = (value: Input | undefined, path: string) => Value

/** One reader for each setting. */
export type Readers<Settings> = { readonly [Name in keyof Settings]-?: Reader<Settings[Name], never> }

/** The options that these readers take, all of them optional. Editors show the doc comments of the readers. */
export type OptionsOf<Read> = {
  [Name in keyof Read]?: Read[Name] extends Reader<unknown, infer Input> ? Exclude<Input, undefined> : never
}

/** The settings that these readers return. Editors show the doc comments of the readers. */
export type SettingsOf<Read> = { [Name in keyof Read]: Read[Name] extends Reader<infer Value, never> ? Value : never }

/** Reads every option with its reader. Throws `invalid_option` for non-objects and unknown names. */
export function readOptions<Settings extends object> (
  options: unknown,
  readers: Readers<Settings>,
  path = ''
): Settings {
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
export function optional<Value, Input> (read: Reader<Value, Input>): Reader<Value | undefined, Input> {
  return (value, path) => value === undefined ? undefined : read(value, path)
}

/** Returns a reader of an option that may be absent, with `null` as its setting. */
export function orNull<Value, Input> (read: Reader<Value, Input>): Reader<Value | null, Input> {
  return (value, path) => value === undefined || value === null ? null : read(value, path)
}

/** Returns a reader of objects, with one reader for each property. Absent properties stay absent. */
export function properties (readers: Readers<Record<string, unknown>>): Reader<object> {
  return (value, path) => omitUndefined(readOptions(value, readers, path))
}

/** Returns a reader of an object of options or a boolean: `true` is short for `{}`, `false` gives `null`. */
export function switchable<Settings extends object> (
  readers: Readers<Settings>,
  usual: boolean
): Reader<Settings | null, object | boolean> {
  return (value = usual, path) => {
    if (value === false) return null
    const options = value === true ? {} : value
    expectObject(options, path, 'a boolean or an object')
    return readOptions(options, readers, path)
  }
}

/** Returns a reader of arrays. By default they are empty. */
export function list<Value, Input> (
  read: Reader<Value, Input>,
  expected: string,
  rules: ListRules<Value> = {}
): Reader<readonly Value[], readonly Input[]> {
  const { usual = [], minimum = 0, maximum = Infinity } = rules
  return (value, path) => {
    if (value === undefined) return usual
    expect(Array.isArray(value), path, expected, value)
    expect(value.length >= minimum && value.length <= maximum, path, expected, `${value.length} entries`)
    return Array.from(value, (entry, index) => read(entry, `${path}[${index}]`))
  }
}

interface ListRules<Value> {
  usual?: readonly Value[]
  minimum?: number
  maximum?: number
}

/** Returns a reader of text that passes a check. */
export function matching (isValid: (text: string) => boolean, expected: string): Reader<string> {
  return (value, path) => {
    expect(typeof value === 'string' && isValid(value), path, expected, value)
    return value
  }
}

/** Reads text that is not empty. */
export const text = matching((text) => text !== '', 'text')

/** Returns a reader of text of 1 to `maxLength` characters without control characters. */
export function plainText (maxLength: number): Reader<string> {
  return matching(
    (text) => isPlainText(text, maxLength),
    `text of 1 to ${maxLength} characters without control characters`
  )
}

/** Passes on a value that is checked elsewhere. */
export function unread (value: unknown): unknown {
  return value
}

/** Returns a reader of functions. */
export function callable<Value extends Function> (): Reader<Value> {
  return (value, path) => {
    expect(typeof value === 'function', path, 'a function', value)
    return value
  }
}
