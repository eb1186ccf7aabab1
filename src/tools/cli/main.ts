import { open, readFile } from 'node:fs/promises'
import { InputError, isRecruitingApiError } from '../../core/shared/errors.js'
import { type AuditedCall, describeCall } from '../../core/observe/audit.js'
import { readSchema } from '../../storages/postgres/sql.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { packageFolder } from '../../core/shared/files.js'
import { findSimilarName } from '../../core/shared/read-options.js'
import { isPlainText } from '../../core/shared/text.js'
import {
  type Command, type CommandAudit, type Context, type Io, type LocalCommand, program, type Usage, CommandError,
  UsageError
} from './command.js'
import {
  auditOptions, type CommandEntry, commands, describeCommand, describeProgram, describeUsage, optionsOf, parseFlags
} from './commands.js'
import { describeError, findMissingMigrations, openDatabase } from './database.js'
import { writeLines } from './terminal.js'

/** Runs a command, such as `['keys', 'list', '--tenant', 'acme']`. Resolves to the exit code; never rejects. */
export async function run (argv: readonly string[], io: Io): Promise<number> {
  let prefix = program
  let command: Usage = {}
  try {
    if (argv.length === 0) {
      writeLines(io.err, describeProgram())
      return 2
    }
    if (argv[0] === '--help' || argv[0] === 'help') {
      writeLines(io.out, describeProgram())
      return 0
    }
    if (argv[0] === '--version') {
      writeLines(io.out, [JSON.parse(await readFile(new URL('package.json', packageFolder()), 'utf8')).version])
      return 0
    }
    const [name, { load }] = findCommand(argv)
    prefix = name
    const loaded = await load()
    command = loaded
    const code = await runCommand(name, loaded, argv.slice(name.split(' ').length), io)
    return typeof code === 'number' ? code : 0
  } catch (error) {
    return reportError(error, prefix, io, command)
  }
}

function findCommand ([first = '', second = '']: readonly string[]): [name: string, entry: CommandEntry] {
  const found = Object.entries(commands).find(([name]) => [`${first} ${second}`, first].includes(name))
  if (found !== undefined) return found
  const group = Object.keys(commands).filter((known) => known.startsWith(`${first} `))
  if (group.length > 0) {
    throw new UsageError(`${first}: add one of ${group.map((known) => known.slice(first.length + 1)).join(', ')}`)
  }
  const similar = findSimilarName(`${first} ${second}`.trim(), Object.keys(commands))
  const hint = similar === null ? '; --help lists all of them' : `, did you mean ${similar}?`
  throw new UsageError(`${JSON.stringify(first)}: unknown command${hint}`)
}

async function runCommand (
  name: string, command: Command | LocalCommand, argv: readonly string[], io: Io
): Promise<number | void> {
  const { flags, args } = parseFlags(argv, command, io.env, describeUsage(name, command))
  if (flags.has('help')) {
    writeLines(io.out, describeCommand(name, command))
    return 0
  }
  if ('runLocally' in command) return await command.runLocally({ io, flags, args })
  const audit = await openAudit({ io, flags })
  const entry: CommandAudit = {
    tenantSlug: flags.text('tenant') ?? null,
    isConfirmed: false,
    write: (more) => audit.write({ operationId: name, ...more })
  }
  try {
    const code = await runWithDatabase(command, { io, flags, args, audit: entry }).catch(async (error: unknown) => {
      // It may have changed something before it failed.
      if (!isExpectedError(error) || entry.isConfirmed) {
        await audit.write({ operationId: name, ...entry }, describeError(error))
      }
      throw error
    })
    await audit.write({ operationId: name, ...entry })
    return code
  } finally {
    await audit.close()
  }
}

/** Opens the file of `--audit-file` before the command does anything. Without the option, nothing is written. */
async function openAudit ({ io, flags }: Pick<Context, 'io' | 'flags'>) {
  const read = (name: keyof typeof auditOptions): string | undefined =>
    flags.text(name) ?? auditOptions[name].variables?.map((variable) => io.env[variable]).find((value) => value)
  const actor = read('actor') ?? null
  if (actor !== null && !isPlainText(actor, 128)) {
    throw new UsageError(
      `--actor: expected 1 to 128 characters without control characters, got ${JSON.stringify(actor)}`)
  }
  const path = read('audit-file')
  const file = path === undefined
    ? null
    : await open(path, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`--audit-file: the file cannot be written (${error.code})`)
    })
  return {
    /** `error` is set if the command failed after it may have changed something. */
    async write (call: AuditedCall, error?: string): Promise<void> {
      const entry = {
        time: new Date(io.now()).toISOString(),
        ...describeCall('command', actor, call),
        ...omitUndefined({ error })
      }
      await file?.appendFile(`${JSON.stringify(entry)}\n`)
    },
    async close (): Promise<void> {
      await file?.close()
    }
  }
}

async function runWithDatabase (command: Command, given: Omit<Context, 'pool' | 'schema'>): Promise<number | void> {
  const { io, flags } = given
  const schema = readSchema(flags.text('schema'), 'schema')
  const { pool, end } = await openDatabase(io, flags)
  try {
    const missing = command.runsUnmigrated === true ? [] : await findMissingMigrations(pool, schema)
    if (missing.length > 0) {
      throw new CommandError(`the schema ${schema} lacks the migrations ${missing.join(', ')}: run ${program} migrate`)
    }
    return await command.run({ ...given, pool, schema })
  } finally {
    await end()
  }
}

const argumentNames = new Map([['tenantSlug', '--tenant'], ['from', 'FROM'], ['to', 'TO'], ['id', 'ID']])

/** Returns the argument or option of a command for a field of the package's errors. */
function findFlag (field: string, command: Usage): string | undefined {
  const option = field.replace('delivery.', '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return argumentNames.get(field) ?? (Object.hasOwn(optionsOf(command), option) ? `--${option}` : undefined)
}

function isExpectedError (error: unknown): boolean {
  return [UsageError, CommandError, InputError].some((type) => error instanceof type) || isRecruitingApiError(error)
}

function reportError (error: unknown, prefix: string, io: Io, command: Usage): number {
  writeLines(io.err, [`${prefix}: ${nameFlag(describeError(error), error, command)}`])
  const isInvalid = isRecruitingApiError(error) && ['invalid_input', 'invalid_option'].includes(error.code)
  return error instanceof UsageError || error instanceof InputError || isInvalid ? 2 : 1
}

/** Replaces the field at the beginning of a message with its option or argument. */
function nameFlag (message: string, error: unknown, command: Usage): string {
  if (error instanceof InputError) return `--${error.field}: ${message}`
  const field = isRecruitingApiError(error) ? error.field : ''
  const flag = findFlag(field.replace(/\[\d+\]$/, ''), command)
  return flag !== undefined && message.startsWith(`${field}:`) ? flag + message.slice(field.length) : message
}
