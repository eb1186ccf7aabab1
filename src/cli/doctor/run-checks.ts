import { isRecruitingApiError } from '../../errors.js'
import { findMissing } from '../../postgres/upgrade/missing.js'
import { readVersion } from '../../postgres/upgrade/version.js'
import { createSession, type Session } from '../../postgres/session.js'
import type { PgPool } from '../../postgres/index.js'
import { readField } from '../../shared/fields.js'
import { describeError } from '../database.js'
import { type Check, type DoctorContext, fault, type Finding, unknown } from './finding.js'

/** A finding and its check. */
export interface NamedFinding extends Finding {
  check: string
}

/** How long statements may wait for a lock, and how long they may take. */
const lockMs = 1000
const statementMs = 3000
/** How long a check may take, and all of them. Statements of the last ones may take longer. */
const usualLimits = { checkMs: 4000, totalMs: 6000 }
/** Few, because some servers have few connections. */
const atOnce = 4

/** Creates a session that changes nothing and does not wait. */
export function createReader (pool: PgPool): Session {
  // The server ends a statement first, and says why.
  const session = createSession(pool, statementMs + 500)
  const settings = 'set transaction read only; ' +
    `set local lock_timeout to ${lockMs}; set local statement_timeout to ${statementMs}`
  const transaction: Session['transaction'] = (operation, work) =>
    session.transaction(`doctor ${operation}`, async (query) => {
      await query(settings)
      return work(query)
    })
  return { transaction, query: (operation, text, values) => transaction(operation, (query) => query(text, values)) }
}

/** Runs checks, several at once. A check that does not end in time is reported as such. */
export async function runChecks (
  all: readonly Check[], context: DoctorContext, report: (text: string) => void, { checkMs, totalMs } = usualLimits
): Promise<NamedFinding[]> {
  // The user may want to wait longer for a worker.
  const moreMs = 1000 * (context.flags.integer('wait-seconds') ?? 0)
  const endsAt = performance.now() + totalMs + moreMs
  const isMigrated = await hasTables(context)
  const checks = all.filter(({ needsTables }) => isMigrated || !needsTables)
  const waiting = [...checks.entries()]
  const found: Finding[][] = checks.map(() => [])

  async function work (): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, check] = next
      report(check.name)
      found[index] = await runCheck(check, context, Math.min(checkMs + moreMs, endsAt - performance.now()))
    }
  }

  await Promise.all(Array.from({ length: atOnce }, work))
  return checks.flatMap(({ name }, index) => (found[index] ?? []).map((finding) => ({ check: name, ...finding })))
}

/** Whether the schema has the tables. If that is unknown, the checks report why. */
async function hasTables ({ query, schema }: DoctorContext): Promise<boolean> {
  try {
    return (await findMissing(query, schema, await readVersion())).migrations.length === 0
  } catch (error) {
    return !isRecruitingApiError(error) || error.code === 'storage_timeout'
  }
}

async function runCheck (check: Check, context: DoctorContext, limitMs: number): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(() => resolve([describeLimit('it did not end in time')]), Math.max(0, limitMs))
  })
  try {
    return await Promise.race([check.run(context), expired])
  } catch (error) {
    return [await describeFailure(error, context)]
  } finally {
    clearTimeout(timer)
  }
}

const lockNotAvailable = '55P03'
const tooSlow: readonly unknown[] = ['57014', 'storage_timeout']
const insufficientPrivilege = '42501'

async function describeFailure (error: unknown, { query }: DoctorContext): Promise<Finding> {
  const code = readField(error, 'code')
  if (tooSlow.includes(code)) return describeLimit(`a statement took more than ${statementMs / 1000} s`)
  if (code === insufficientPrivilege) {
    return unknown(`not checked, because the database user lacks a privilege: ${describeError(error)}`,
      'grant the privileges that the check privileges names, or run doctor as the owner of the schema')
  }
  if (code !== lockNotAvailable) {
    return fault(`could not be checked: ${describeError(error)}`, 'resolve this error, then run the command again')
  }
  const holders = await query<{ pid: number, who: string }>(`
    select distinct a.pid,
      format('process %s (%s, %s)', a.pid, a.usename, coalesce(nullif(a.application_name, ''), a.state)) as who
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.locktype = 'relation' and l.mode = 'AccessExclusiveLock' and l.pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())`).catch(() => [])
  if (holders.length === 0) return describeLimit(`it waited ${lockMs / 1000} s for a locked table`)
  const command = holders.map(({ pid }) => `select pg_terminate_backend(${pid})`).join('; ')
  return unknown(`not checked, because ${holders.map(({ who }) => who).join(' and ')} has locked a table that it reads`,
    `wait for it, or end it with ${command}; then run the command again`)
}

function describeLimit (reason: string): Finding {
  return unknown(`not checked, because ${reason}`, 'run the command again when the server is less busy')
}
