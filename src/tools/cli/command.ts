import type { AuditedCall } from '../../core/observe/audit.js'
import type { PgPool } from '../../storages/postgres/index.js'

export const program = 'fastify-recruiting-api'

/** A command's environment. Only `bin.ts` touches the process. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  out (text: string): void
  /** Writes questions, progress and errors. */
  err (text: string): void
  showsResults: boolean
  showsProgress: boolean
  /** Asks a question and returns the answer; `null` without a terminal. */
  ask: ((question: string) => Promise<string>) | null
  now (): number
  /** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
  sleep (ms: number, signal: AbortSignal): Promise<void>
  /** Runs a task and aborts its signal when the user stops the program, for example with Ctrl-C. */
  untilInterrupted<Result> (work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
  /** Reads the file `.env` in the current folder; `null` if there is none. */
  readEnvFile (): Promise<{ path: string, text: string } | null>
  importDriver (): Promise<unknown>
  importDemo (): Promise<unknown>
}

export interface Option {
  /** A placeholder for its value, such as `SLUG`; `null` for an option without a value. */
  value: string | null
  about: string
  isRequired?: boolean
  /** Environment variables that can contain the value or, for a file option, the file's content. */
  variables?: readonly string[]
}

export type Options = Readonly<Record<string, Option>>

export interface Usage {
  /** A placeholder for each argument, such as `ID`. All are required. */
  args?: readonly string[]
  options?: Options
}

/** A command without a database. It has only one common option, `--help`. */
export interface LocalCommand extends Usage {
  runLocally (context: Pick<Context, 'io' | 'flags' | 'args'>): Promise<number | void>
}

/** A command. Its file is imported only when it runs. */
export interface Command extends Usage {
  /** Whether it can run before `migrate`. */
  runsUnmigrated?: boolean
  /** Resolves to the exit code: 1 if rejected or a problem was found. @default 0 */
  run (context: Context): Promise<number | void>
}

/** The command's entry in `--audit-file`. The command fills it in before it changes anything. */
export interface CommandAudit extends Pick<AuditedCall, 'tenantSlug' | 'resource' | 'rowCount'> {
  /** Whether the change was confirmed. The entry is then written even if the command fails later. */
  isConfirmed: boolean
  /** Writes a separate entry for one of several records, as soon as it has changed. */
  write (entry: Required<Pick<AuditedCall, 'tenantSlug' | 'resource'>>): Promise<void>
}

export interface Context {
  io: Io
  flags: Flags
  args: readonly string[]
  pool: PgPool
  schema: string
  audit: CommandAudit
}

/** Wrong usage: exit code 2. The message names the argument and the remedy. */
export class UsageError extends Error {}

/** A command that cannot run: exit code 1. The message explains why and what to do. */
export class CommandError extends Error {}

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

  /** Throws if an option is given together with one of these. */
  assertAlone (name: string, ...others: readonly string[]): void {
    const other = others.find((one) => this.has(one))
    if (this.has(name) && other !== undefined) throw new UsageError(`--${name}: cannot be combined with --${other}`)
  }

  integer (name: string, minimum = 0, maximum = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= minimum && value <= maximum) return value
    const range = maximum === Number.MAX_SAFE_INTEGER ? '' : ` from ${minimum} to ${maximum}`
    throw new UsageError(`--${name}: expected an integer${range}, got ${JSON.stringify(text)}`)
  }

  oneOf<Word extends string> (name: string, words: readonly Word[]): Word | undefined {
    const text = this.text(name)
    const word = words.find((known) => known === text)
    if (text !== undefined && word === undefined) {
      throw new UsageError(`--${name}: expected one of ${words.join(', ')}, got ${JSON.stringify(text)}`)
    }
    return word
  }

  /** Returns the items of a required comma-separated list. */
  list (name: string): string[] {
    return this.required(name).split(',').map((item) => item.trim())
  }

  /** Returns the items of a comma-separated list; `undefined` if absent. */
  optionalList (name: string): string[] | undefined {
    return this.has(name) ? this.list(name) : undefined
  }
}
