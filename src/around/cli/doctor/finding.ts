import type { PgPool } from '../../../storages/postgres/index.js'
import type { RunQuery, Session } from '../../../storages/postgres/session.js'
import type { Flags } from '../command.js'

/** A check's result. */
export interface Finding {
  /** `unknown` if it could not be checked. Only a `fault` makes the exit code 1. */
  state: 'ok' | 'fault' | 'advice' | 'unknown'
  /** One sentence: the problem and its effect. */
  text: string
  /** The action to take, such as a command or SQL; `null` if none is needed. */
  remedy: string | null
}

/** The database and the options that checks use. */
export interface DoctorContext {
  /** Only for what `session` cannot do. Its statements have no timeout. */
  pool: PgPool
  /** Read-only. Statements that take too long or wait for a lock fail. */
  session: Session
  /** Runs a statement with `session`. */
  query: RunQuery
  /** As given, and quoted. */
  schema: string
  quotedSchema: string
  flags: Flags
  /** Empty if not given. */
  secretKeys: readonly Uint8Array[]
  now (): number
}

/** Looks for faults of one kind. */
export interface Check {
  name: string
  /** Whether it needs the tables of `migrate`. */
  needsTables: boolean
  run (context: DoctorContext): Promise<Finding[]>
}

export function ok (text: string): Finding {
  return { state: 'ok', text, remedy: null }
}

export function fault (text: string, remedy: string): Finding {
  return { state: 'fault', text, remedy }
}

export function advice (text: string, remedy: string): Finding {
  return { state: 'advice', text, remedy }
}

export function unknown (text: string, remedy: string): Finding {
  return { state: 'unknown', text, remedy }
}

/** Returns the findings, or an `ok` if there are none. */
export function orOk (findings: readonly Finding[], text: string): Finding[] {
  return findings.length > 0 ? [...findings] : [ok(text)]
}

/** Quotes a word of a command for a shell. */
export function quoteShell (text: string): string {
  return /^[\w.]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
