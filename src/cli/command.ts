import type { PgPool } from '../postgres/index.js'
import type { Flags } from './flags.js'

/** The outside of a command. Only `bin.ts` touches the process. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  /** Writes the result. */
  out (text: string): void
  /** Writes questions, progress and errors. */
  err (text: string): void
  /** Whether somebody sees what `out` writes. */
  showsResults: boolean
  /** Whether somebody sees what `err` writes. */
  showsProgress: boolean
  /** Asks a question and returns the answer; `null` if nobody can answer. */
  ask: ((question: string) => Promise<string>) | null
  /** Milliseconds since the epoch. */
  now (): number
  /** Imports the host's `pg`. */
  importDriver (): Promise<unknown>
}

/** An option of a command. */
export interface Option {
  /** A word for its value, such as `SLUG`; `null` for an option without a value. */
  value: string | null
  about: string
  isRequired?: boolean
}

/** A command. Its file is imported only when it runs. */
export interface Command {
  /** A word for each argument, such as `ID`. All are required. */
  args: readonly string[]
  options: Readonly<Record<string, Option>>
  /** Whether it runs before `migrate` has. @default false */
  runsUnmigrated?: boolean
  /** Resolves to the exit code: 0 for done, 1 for refused or a fault that was found. */
  run (context: Context): Promise<number>
}

/** The arguments and surroundings of a command. */
export interface Context {
  io: Io
  flags: Flags
  args: readonly string[]
  pool: PgPool
  schema: string
}

/** Wrong usage: exit code 2. The message names the argument and the remedy. */
export class UsageError extends Error {}

/** What cannot be done: exit code 1. The message says why, and what to do. */
export class RefusedError extends Error {}
