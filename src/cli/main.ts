import { readFile } from 'node:fs/promises'
import { Refusal, isRecruitingApiError } from '../errors.js'
import { readSchema } from '../postgres/options.js'
import { findNearestName } from '../shared/nearest-name.js'
import { type Command, type Io, RefusedError, UsageError } from './command.js'
import { type CommandEntry, commands } from './commands.js'
import { describeError, findMissingMigrations, openDatabase } from './database.js'
import { type Flags, parseFlags } from './flags.js'
import { describeCommand, describeProgram, program } from './help.js'

/** Runs a command, such as `['keys', 'list', '--tenant', 'acme']`. Resolves to the exit code; never rejects. */
export async function run (argv: readonly string[], io: Io): Promise<number> {
  let prefix = program
  try {
    if (argv.length === 0) {
      io.err(describeProgram())
      return 2
    }
    if (argv[0] === '--help' || argv[0] === 'help') {
      io.out(describeProgram())
      return 0
    }
    if (argv[0] === '--version') {
      io.out(`${JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')).version}\n`)
      return 0
    }
    const [name, { load }] = findCommand(argv)
    prefix = name
    return await runCommand(name, (await load()).command, argv.slice(name.split(' ').length), io)
  } catch (error) {
    return reportError(error, prefix, io)
  }
}

function findCommand ([first = '', second = '']: readonly string[]): [name: string, entry: CommandEntry] {
  const found = Object.entries(commands).find(([name]) => [`${first} ${second}`, first].includes(name))
  if (found !== undefined) return found
  const group = Object.keys(commands).filter((known) => known.startsWith(`${first} `))
  if (group.length > 0) throw new UsageError(`${first}: add one of ${group.map((known) => known.slice(first.length + 1)).join(', ')}`)
  throw new UsageError(`${JSON.stringify(first)}: there is no such command, do you mean ${findNearestName(`${first} ${second}`.trim(), Object.keys(commands))}?`)
}

async function runCommand (name: string, command: Command, argv: readonly string[], io: Io): Promise<number> {
  const { flags, args } = parseFlags(argv, command)
  if (flags.has('help')) {
    io.out(describeCommand(name, command))
    return 0
  }
  return runWithDatabase(command, flags, args, io)
}

async function runWithDatabase (command: Command, flags: Flags, args: readonly string[], io: Io): Promise<number> {
  const schema = readSchema(flags.text('schema'), 'schema')
  const { pool, end } = await openDatabase(io, flags)
  try {
    const missing = command.runsUnmigrated === true ? [] : await findMissingMigrations(pool, schema)
    if (missing.length > 0) throw new RefusedError(`the schema ${schema} lacks the migrations ${missing.join(', ')}: run ${program} migrate`)
    return await command.run({ io, flags, args, pool, schema })
  } finally {
    await end()
  }
}

/** The options and arguments that fields of the package's own errors stand for. */
const flagNames: Readonly<Record<string, string>> = {
  tenantSlug: '--tenant',
  scopes: '--scopes',
  name: '--name',
  createdBy: '--created-by',
  expiresAt: '--expires-at',
  overlapSeconds: '--overlap-seconds',
  prefix: '--prefix',
  schema: '--schema',
  'delivery.allowNetworks': '--allow-networks',
  'delivery.proxy.url': '--proxy',
  candidates: '--candidates',
  jobs: '--jobs',
  from: 'FROM',
  to: 'TO',
  id: 'ID'
}

function reportError (error: unknown, prefix: string, io: Io): number {
  io.err(`${prefix}: ${nameFlag(describeError(error), error)}\n`)
  const isInvalid = isRecruitingApiError(error) && ['invalid_input', 'invalid_option'].includes(error.code)
  return error instanceof UsageError || error instanceof Refusal || isInvalid ? 2 : 1
}

/** Puts the option or argument in the place of the field at the beginning of a message. */
function nameFlag (message: string, error: unknown): string {
  if (error instanceof Refusal) return `--${error.field}: ${message}`
  const field = isRecruitingApiError(error) ? error.field : ''
  const flag = new Map(Object.entries(flagNames)).get(field.replace(/\[\d+\]$/, ''))
  return flag !== undefined && message.startsWith(`${field}:`) ? flag + message.slice(field.length) : message
}
