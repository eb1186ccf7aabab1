import { setTimeout as sleep } from 'node:timers/promises'
import type { PgPool } from '../../../storages/postgres/index.js'
import type { RunQuery, Session } from '../../../storages/postgres/session.js'
import type { Flags } from '../command.js'

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
  /** Read-only. Statements that take too long or wait for a lock fail. `query` runs one with it. */
  session: Session
  query: RunQuery
  /** As given, and quoted. */
  schema: string
  quotedSchema: string
  flags: Flags
  /** Empty if not given. */
  secretKeys: readonly Uint8Array[]
  now (): number
}

export interface Check {
  name: string
  /** Whether it needs the tables of `migrate`. @default false */
  needsTables?: boolean
  /** The report without findings. @default none */
  ok?: string
  find (context: DoctorContext): Promise<Finding[]>
}

const create = (state: Finding['state']) => (text: string, remedy: string): Finding => ({ state, text, remedy })

export const [fault, advice, unknown] = [create('fault'), create('advice'), create('unknown')] as const

export function ok (text: string): Finding {
  return { state: 'ok', text, remedy: null }
}

/** A row of a statement that finds faults. */
interface FoundRow {
  text: string
  remedy: string
  /** If set, it is `unknown` instead of a fault. */
  unseen?: boolean
  /** If set, only a fault if a second look finds the same. */
  key?: string | null
}

const lookAgainMs = 1000

/** Runs a statement that returns a row for each finding. */
export async function findRows (query: RunQuery, text: string, values?: unknown[]): Promise<Finding[]> {
  let rows = await query<FoundRow>(text, values)
  if (rows.some(({ key = null }) => key !== null)) {
    await sleep(lookAgainMs)
    const later = new Set((await query<FoundRow>(text, values)).map(({ key }) => key))
    rows = rows.filter(({ key = null }) => key === null || later.has(key))
  }
  return rows.map(({ text, remedy, unseen = false }) => (unseen ? unknown : fault)(text, remedy))
}

/** SQL that names a session of `pg_stat_activity`. */
export const sessionName = `format('process %s (%s, %s)', a.pid, a.usename,
  coalesce(nullif(a.application_name, ''), a.state, 'hidden'))`
export const endSession = "format('end it with select pg_terminate_backend(%s)', a.pid)"
/** The same of `pg_prepared_xacts`. */
export const preparedName = "format('prepared transaction %s (%s)', p.gid, p.owner)"
export const endPrepared = "format('end it with rollback prepared %1$L or commit prepared %1$L', p.gid)"
export const grantMonitor = 'grant pg_monitor to the database user'
