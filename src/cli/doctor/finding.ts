import type { PgPool } from '../../postgres/index.js'
import type { Session } from '../../postgres/session.js'
import type { Flags } from '../flags.js'

/** The result of a check. */
export interface Finding {
  check: string
  /** `unknown` if it could not be checked. Only a `fault` makes the exit code 1. */
  state: 'ok' | 'fault' | 'advice' | 'unknown'
  text: string
  /** What to do; `null` if nothing. */
  remedy: string | null
}

/** The database and the options that checks use. */
export interface Patient {
  pool: PgPool
  session: Session
  /** As given, and quoted. */
  schema: string
  quotedSchema: string
  flags: Flags
  now (): number
}

/** Looks for faults of one kind. */
export interface Check {
  name: string
  /** Whether it needs the tables of `migrate`. */
  needsTables: boolean
  run (patient: Patient): Promise<Array<Omit<Finding, 'check'>>>
}

export function ok (text: string): Omit<Finding, 'check'> {
  return { state: 'ok', text, remedy: null }
}

export function fault (text: string, remedy: string): Omit<Finding, 'check'> {
  return { state: 'fault', text, remedy }
}

export function advice (text: string, remedy: string): Omit<Finding, 'check'> {
  return { state: 'advice', text, remedy }
}

export function unknown (text: string, remedy: string): Omit<Finding, 'check'> {
  return { state: 'unknown', text, remedy }
}
