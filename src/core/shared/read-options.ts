import { RecruitingApiError, isRecruitingApiError } from './errors.js'
import { omitUndefined } from './fields.js'
import { isPlainText, parseUrl } from './text.js'

/** Throws `invalid_option`, with the path, the expected and the actual value, unless the condition holds. */
export function assertOption (condition: boolean, path: string, expected: string, value: unknown): asserts condition {
  if (!condition) rejectOption(path, expected, value)
}

export function rejectOption (path: string, expected: string, value: unknown): never {
  throw new RecruitingApiError('invalid_option', `${path}: expected ${expected}, got ${show(value)}`, path)
}

/**
 * Throws `invalid_option` for an unknown name, and suggests the nearest one. Does not show the value, which may be a
 * secret.
 */
export function assertKnownNames (given: object, known: object, path = ''): void {
  const names = Object.keys(known)
  const unknown = findUnknownName(given, names)
  if (unknown !== undefined) {
    rejectOption(`${path}${unknown}`, `a known name such as ${findNearestName(unknown, names)}`, unknown)
  }
}

export function findUnknownName (given: object, names: readonly string[]): string | undefined {
  return Object.keys(given).find((name) => !names.includes(name))
}

/** Formats a value for a message, without the content of objects. */
export function show (value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}

/** Returns the name with the fewest edits from `given`, ignoring case: most unknown names are misspelt. */
export function findNearestName (given: string, names: readonly string[]): string {
  const edits = (name: string): number => countEdits(given.toLowerCase(), name.toLowerCase())
  const [nearest = ''] = names.toSorted((one, other) => edits(one) - edits(other))
  return nearest
}

/** Returns the nearest name, or `null` if none is similar: at most a third of `given` may differ. */
export function findSimilarName (given: string, names: readonly string[]): string | null {
  const nearest = findNearestName(given, names)
  return countEdits(given.toLowerCase(), nearest.toLowerCase()) * 3 <= given.length ? nearest : null
}

function countEdits (from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      const [replaced = 0, deleted = 0] = row.slice(column)
      const [inserted = 0] = next.slice(column)
      next.push(Math.min(replaced + Number(letter !== other), deleted + 1, inserted + 1))
    }
    row = next
  }
  const [edits = 0] = row.slice(-1)
  return edits
}

/**
 * Checks the value of an option and returns its setting; the default applies if it is `undefined`. `Input` is the
 * type that hosts see, but values may be anything. Throws `invalid_option` with the path.
 */
export type Reader<Value, Input = Value> = (value: Input | undefined, path: string) => Value

export type Readers<Settings> = { readonly [Name in keyof Settings]-?: Reader<Settings[Name], never> }

/** The options that these readers accept, all optional. Editors show the doc comments of the readers. */
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
  assertObject(options, path === '' ? 'options' : path)
  const prefix = path === '' ? '' : `${path}.`
  assertKnownNames(options, readers, prefix)
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

export function assertObject (value: unknown, path: string, expected = 'an object'): asserts value is object {
  assertOption(typeof value === 'object' && value !== null && !Array.isArray(value), path, expected, value)
}

/** Returns a reader of values that pass a check. Without a default, the option is required. */
export function checked<Value> (
  isValid: (value: unknown) => boolean, expected: string, usual?: NoInfer<Value>
): Reader<Value> {
  return (value = usual, path) => {
    assertOption(isValid(value), path, expected, value)
    return value as Value
  }
}

export function integer (minimum: number, maximum: number, usual?: number): Reader<number> {
  return checked((value) => isWithin(value, minimum, maximum), `an integer from ${minimum} to ${maximum}`, usual)
}

export function flag (usual: boolean): Reader<boolean> {
  return checked((value) => typeof value === 'boolean', 'a boolean', usual)
}

/** Returns a reader of one of these texts. Without a default, the option is required. */
export function choice<const Value extends string> (values: readonly Value[], usual?: NoInfer<Value>): Reader<Value> {
  return (value = usual, path) => {
    const known = values.find((one) => one === value)
    assertOption(known !== undefined, path, values.map((one) => `'${one}'`).join(' or '), value)
    return known
  }
}

export function optional<Value, Input> (read: Reader<Value, Input>): Reader<Value | undefined, Input> {
  return (value, path) => value === undefined ? undefined : read(value, path)
}

/** Returns a reader that also accepts `undefined` and `null`, and returns `null` for both. */
export function orNull<Value, Input> (read: Reader<Value, Input>): Reader<Value | null, Input> {
  return (value, path) => value === undefined || value === null ? null : read(value, path)
}

/** Returns a reader of objects, with one reader for each property. Absent properties stay absent. */
export function properties (readers: Readers<Record<string, unknown>>): Reader<object> {
  return (value, path) => omitUndefined(readOptions(value, readers, path))
}

/** Returns a reader of an options object or a boolean: `true` is short for `{}`, and `false` returns `null`. */
export function switchable<Settings extends object> (
  readers: Readers<Settings>,
  usual: boolean
): Reader<Settings | null, object | boolean> {
  return (value = usual, path) => {
    if (value === false) return null
    const options = value === true ? {} : value
    assertObject(options, path, 'a boolean or an object')
    return readOptions(options, readers, path)
  }
}

/** Returns a reader of arrays. By default they are empty. */
export function list<Value, Input> (
  read: Reader<Value, Input>,
  expected: string,
  rules: ListRules<Value> = {}
): Reader<Value[], readonly Input[]> {
  const { usual = [], minimum = 0, maximum = Infinity } = rules
  return (value, path) => {
    if (value === undefined) return [...usual]
    assertOption(Array.isArray(value), path, expected, value)
    assertOption(value.length >= minimum && value.length <= maximum, path, expected, `${value.length} entries`)
    return Array.from(value, (entry, index) => read(entry, `${path}[${index}]`))
  }
}

interface ListRules<Value> {
  usual?: readonly Value[]
  minimum?: number
  maximum?: number
}

export function matching (isValid: (text: string) => boolean, expected: string, usual?: string): Reader<string> {
  return checked((value) => typeof value === 'string' && isValid(value), expected, usual)
}

export const text = matching((text) => text !== '', 'text')

/** Returns a reader of text of 1 to `maxLength` characters without control characters. */
export function plainText (maxLength: number): Reader<string> {
  return matching(
    (text) => isPlainText(text, maxLength),
    `text of 1 to ${maxLength} characters without control characters`
  )
}

/** Returns a value that is checked elsewhere. */
export function unread (value: unknown): unknown {
  return value
}

export function callable<Value extends Function> (expected = 'a function'): Reader<Value> {
  return checked((value) => typeof value === 'function', expected)
}

/** Returns a base URL without a trailing slash; '' if the option is absent. Throws `invalid_option`. */
export function readPublicUrl (value: string | undefined = '', path: string): string {
  if (value === '') return ''
  const url = typeof value === 'string' && !/[\p{Cc}\s\\?#]/u.test(value) ? parseUrl(value) : null
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === ''
  assertOption(isBase, path, 'a URL such as https://api.example.com, without query and fragment', value)
  return url.href.replace(/\/+$/, '')
}

export function readLocale (value: string | undefined, path: string): string {
  const locale = typeof value === 'string' ? canonical(value) : undefined
  assertOption(locale !== undefined, path, 'a language such as de or en-GB', value)
  return locale
}

function canonical (locale: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(locale)[0]
  } catch {
    return undefined
  }
}

export function readKeys (keys: unknown, path: string): readonly Uint8Array[] {
  // Messages never contain the value: it may be a key.
  assertOption(Array.isArray(keys), path, 'an array of Buffers', typeof keys)
  for (const [index, key] of keys.entries()) {
    const isKey = key instanceof Uint8Array && key.length === 32
    assertOption(
      isKey,
      `${path}[${index}]`,
      'a Buffer of 32 bytes',
      key instanceof Uint8Array ? `${key.length} bytes` : typeof key
    )
  }
  return keys
}

export type Limit<Of> = number | ((of: Of) => number | Promise<number>)

export function limit<Of> (minimum: number, maximum: number, usual: number): Reader<Limit<Of>> {
  return checked(
    (value) => typeof value === 'function' || isWithin(value, minimum, maximum),
    `an integer from ${minimum} to ${maximum}, or a function`,
    usual
  )
}

export function isWithin (value: unknown, minimum: number, maximum: number): boolean {
  return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
}
