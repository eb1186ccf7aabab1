import { parseArgs } from 'node:util'
import { findNearestName } from '../shared/nearest-name.js'
import { type Command, type Option, UsageError } from './command.js'

/** The options of every command. */
export const commonOptions: Readonly<Record<string, Option>> = {
  'database-url': { value: 'URL', about: 'the database; the default is DATABASE_URL' },
  schema: { value: 'NAME', about: 'the schema that migrate made; the default is recruiting' },
  json: { value: null, about: 'writes the result as JSON' },
  yes: { value: null, about: 'does not ask' },
  help: { value: null, about: 'shows this' }
}

/** The options that were given. */
export class Flags {
  readonly #values: ReadonlyMap<string, string | true>

  constructor (values: ReadonlyMap<string, string | true>) {
    this.#values = values
  }

  has (name: string): boolean {
    return this.#values.has(name)
  }

  text (name: string): string | undefined {
    const value = this.#values.get(name)
    return typeof value === 'string' ? value : undefined
  }

  /** Returns an option that the command declares as required. */
  required (name: string): string {
    return String(this.text(name))
  }

  /** Returns an integer of this range. Throws for anything else. */
  integer (name: string, minimum = 0, maximum = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum && value <= maximum) return value
    const range = maximum === Number.MAX_SAFE_INTEGER ? '' : ` from ${minimum} to ${maximum}`
    throw new UsageError(`--${name}: expected an integer${range}, got ${JSON.stringify(text)}`)
  }

  /** Returns one of these words. Throws for any other. */
  oneOf<Word extends string> (name: string, words: readonly Word[]): Word | undefined {
    const text = this.text(name)
    const word = words.find((known) => known === text)
    if (text !== undefined && word === undefined) throw new UsageError(`--${name}: expected one of ${words.join(', ')}, got ${JSON.stringify(text)}`)
    return word
  }

  /** Returns the items of a comma-separated list that the command declares as required. */
  list (name: string): string[] {
    return this.required(name).split(',').map((item) => item.trim())
  }
}

/** Reads the arguments after the name of the command. Throws `UsageError`. */
export function parseFlags (argv: readonly string[], { args, options }: Pick<Command, 'args' | 'options'>): { flags: Flags, args: string[] } {
  const known = { ...commonOptions, ...options }
  const { tokens } = parseArgs({ args: [...argv], options: typesOf(known), tokens: true, strict: false })
  const values = new Map<string, string | true>()
  const given: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') given.push(token.value)
    if (token.kind !== 'option') continue
    const { name, value } = token
    const option = Object.hasOwn(known, name) ? known[name] : undefined
    if (option === undefined) throw new UsageError(`${token.rawName}: there is no such option, do you mean --${findNearestName(name, Object.keys(known))}?`)
    if (values.has(name)) throw new UsageError(`--${name}: given twice`)
    if (option.value === null && value !== undefined) throw new UsageError(`--${name}: takes no value`)
    // Otherwise a forgotten value would be the name of the next option.
    const isValue = value !== undefined && value !== '' && (token.inlineValue || !value.startsWith('-'))
    if (option.value !== null && !isValue) throw new UsageError(`--${name}: needs a value, --${name} ${option.value}`)
    values.set(name, value ?? true)
  }
  const flags = new Flags(values)
  if (!flags.has('help')) assertComplete(flags, given, args, options)
  return { flags, args: given }
}

function assertComplete (flags: Flags, given: readonly string[], args: Command['args'], options: Command['options']): void {
  const surplus = given[args.length]
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)}: there is no such argument`)
  const missing = args[given.length]
  if (missing !== undefined) throw new UsageError(`${missing}: missing`)
  for (const [name, { isRequired, value }] of Object.entries(options)) {
    if (isRequired === true && !flags.has(name)) throw new UsageError(`--${name}: missing, add --${name} ${value}`)
  }
}

function typesOf (options: Readonly<Record<string, Option>>): Record<string, { type: 'string' | 'boolean' }> {
  return Object.fromEntries(Object.entries(options).map(([name, { value }]) => [name, { type: value === null ? 'boolean' : 'string' }]))
}
