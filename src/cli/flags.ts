import { parseArgs } from 'node:util'
import { findSimilarName } from '../shared/read-options.js'
import { Flags, type Io, type Option, type Options, UsageError, type Usage } from './command.js'
import { isSet, secretOptions } from './secrets.js'

const help: Option = { value: null, about: 'shows this help' }

/** The options of every command that say who runs it, and where that is written. */
export const auditOptions: Readonly<Record<'actor' | 'audit-file', Option>> = {
  actor: { value: 'NAME', about: 'who runs the command, for --audit-file', variables: ['RECRUITING_ACTOR'] },
  'audit-file': {
    value: 'FILE',
    about: 'appends what the command did to a file, as a line of JSON',
    variables: ['RECRUITING_AUDIT_FILE']
  }
}

/** The options of every command on the database. */
const commonOptions: Options = {
  ...secretOptions('database-url', 'URL', 'the database'),
  schema: { value: 'NAME', about: 'the schema that migrate created; the default is recruiting' },
  ...auditOptions,
  json: { value: null, about: 'writes the result as JSON' },
  yes: { value: null, about: 'does not ask for confirmation' },
  help
}

/** Returns the options of a command: its own, then the common ones. */
export function optionsOf (command: Usage): Options {
  return { ...command.options, ...('runLocally' in command ? { help } : commonOptions) }
}

/**
 * Reads the arguments after the name of the command. A variable of `env` may stand for a required option. Throws
 * `UsageError`, which shows `usage` if an argument is missing.
 */
export function parseFlags (
  argv: readonly string[], command: Usage, env: Io['env'] = {}, usage = 'see --help'
): { flags: Flags, args: string[] } {
  const known = optionsOf(command)
  const { tokens } = parseArgs({ args: [...argv], options: typesOf(known), tokens: true, strict: false })
  const values = new Map<string, string | true>()
  const given: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') given.push(token.value)
    if (token.kind !== 'option') continue
    const { name, value } = token
    const option = Object.hasOwn(known, name) ? known[name] : undefined
    if (option === undefined) {
      const similar = findSimilarName(name, Object.keys(known))
      throw new UsageError(
        `${token.rawName}: there is no such option${similar === null ? '; --help lists all of them' : `, did you mean --${similar}?`}`
      )
    }
    if (values.has(name)) throw new UsageError(`--${name}: given twice`)
    if (option.value === null && value !== undefined) throw new UsageError(`--${name}: takes no value`)
    // If a value is missing, the next option's name follows.
    const isValue = value !== undefined && value !== '' && (token.inlineValue || !value.startsWith('-'))
    if (option.value !== null && !isValue) throw new UsageError(`--${name}: needs a value, --${name} ${option.value}`)
    values.set(name, value ?? true)
  }
  const flags = new Flags(values)
  if (!flags.has('help')) assertComplete(flags, given, command, env, usage)
  return { flags, args: given }
}

function assertComplete (
  flags: Flags,
  given: readonly string[],
  { args = [], options = {} }: Usage,
  env: Io['env'],
  usage: string
): void {
  const surplus = given[args.length]
  if (surplus !== undefined) throw new UsageError(`${JSON.stringify(surplus)}: unexpected argument`)
  const missing = args[given.length]
  if (missing !== undefined) throw new UsageError(`${missing}: missing, ${usage}`)
  for (const [name, { isRequired, value, variables = [] }] of Object.entries(options)) {
    if (isRequired !== true || flags.has(name) || variables.some((variable) => isSet(env[variable]))) continue
    throw new UsageError(
      `--${name}: missing, add --${name} ${value}${variables.map((variable) => ` or set ${variable}`).join('')}`
    )
  }
}

function typesOf (options: Options): Record<string, { type: 'string' | 'boolean' }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [name, { type: value === null ? 'boolean' : 'string' }])
  )
}
