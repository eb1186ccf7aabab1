import { isRecruitingApiError } from '../../../core/shared/errors.js'
import type { PgPool } from '../../../storages/postgres/index.js'
import { createSession, inTransactions, type Session } from '../../../storages/postgres/session.js'
import { quoteName } from '../../../storages/postgres/sql.js'
import { findMissing, readVersion } from '../../../storages/postgres/upgrade/version.js'
import { readField } from '../../../core/shared/fields.js'
import type { Command } from '../command.js'
import { describeError } from '../database.js'
import { checkLists, listOptions } from '../upkeep.js'
import { readSecretKeys, secretKeysOption } from '../secrets.js'
import { formatTable, showResult, withProgress } from '../terminal.js'
import {
  checkCopies, checkDueDeliveries, checkFailing, checkRetention, checkSecrets, checkSequences, checkTenantIds,
  checkWorkers
} from './data.js'
import { type Check, type DoctorContext, fault, type Finding, unknown } from './finding.js'
import { checkRelations, checkWatched } from './relations.js'
import { checkRows, checkSchema } from './schema.js'
import {
  checkClocks, checkDatabase, checkListening, checkMigrations, checkPrivileges, checkPublications, checkReplication,
  checkRoleSettings, checkVacuum
} from './server.js'
import { checkFeed, checkLocks, checkSync, checkTransactions } from './transactions.js'

/** Every check, in display order. */
const checks: readonly Check[] = [
  { name: 'locks', needsTables: false, run: checkLocks },
  { name: 'migrations', needsTables: false, run: checkMigrations },
  // Without privileges, looking for the tables fails too.
  { name: 'privileges', needsTables: false, run: checkPrivileges },
  { name: 'database', needsTables: false, run: checkDatabase },
  { name: 'settings', needsTables: false, run: checkRoleSettings },
  { name: 'schema', needsTables: true, run: checkSchema },
  { name: 'rows', needsTables: true, run: checkRows },
  { name: 'sequences', needsTables: true, run: checkSequences },
  { name: 'relations', needsTables: false, run: checkRelations },
  { name: 'copy', needsTables: true, run: checkCopies },
  { name: 'due deliveries', needsTables: true, run: checkDueDeliveries },
  { name: 'workers', needsTables: true, run: checkWorkers },
  { name: 'retention', needsTables: true, run: checkRetention },
  { name: 'vacuum', needsTables: true, run: checkVacuum },
  { name: 'transactions', needsTables: false, run: checkTransactions },
  { name: 'publications', needsTables: true, run: checkPublications },
  { name: 'replication', needsTables: false, run: checkReplication },
  { name: 'sync', needsTables: true, run: checkSync },
  { name: 'feed', needsTables: true, run: checkFeed },
  { name: 'watched tables', needsTables: true, run: checkWatched },
  { name: 'clocks', needsTables: true, run: checkClocks },
  { name: 'listen', needsTables: false, run: checkListening },
  { name: 'secrets', needsTables: true, run: checkSecrets },
  { name: 'tenant ids', needsTables: true, run: checkTenantIds },
  { name: 'webhooks', needsTables: true, run: checkFailing }
]

export const doctor: Command = {
  options: {
    ...listOptions,
    'no-lists': { value: null, about: 'skips both, if your server has no lists of candidates and jobs' },
    'tenant-ids': {
      value: null,
      about: 'reads the column tenant_id, because your servers have the option tenantId; ' +
        'by default tenant_slug, unless there is only tenant_id'
    },
    environment: { value: 'NAME', about: 'same as delivery.environment of your servers' },
    'secret-keys': secretKeysOption,
    'retention-days': { value: 'DAYS', about: 'same as delivery.retentionDays of your servers; the default is 30' },
    'changes-retention-days': {
      value: 'DAYS',
      about: 'same as changesRetentionDays of your servers; the default is 90'
    },
    'max-due-seconds': { value: 'SECONDS', about: 'how long a delivery may be due; the default is 300' },
    'max-lock-seconds': {
      value: 'SECONDS',
      about: 'how long a transaction may lock tables or rows that this package needs; the default is 5'
    },
    'max-transaction-seconds': { value: 'SECONDS', about: 'how long a transaction may be open; the default is 600' },
    'wait-seconds': { value: 'SECONDS', about: 'how long to look for a worker; the default is 3' }
  },
  runsUnmigrated: true,

  async run (context) {
    const { io, flags, pool, schema } = context
    // Reports wrong usage before it checks anything.
    const secretKeys = await readSecretKeys(context)
    checkLists(flags)
    const seconds = ['max-due-seconds', 'max-lock-seconds', 'max-transaction-seconds', 'wait-seconds']
    for (const name of seconds) flags.integer(name)
    for (const name of ['retention-days', 'changes-retention-days']) flags.integer(name, 1, 3650)
    const session = createReader(pool)
    await session.query('connect', 'select')
    const checked: DoctorContext = {
      pool,
      schema,
      flags,
      secretKeys,
      session,
      query: (text, values) => session.query('check', text, values),
      quotedSchema: quoteName(schema),
      now: io.now
    }
    const findings = await withProgress(io, 'checking', (report) => runChecks(checks, checked, report))
    showResult(context, { findings }, findings.flatMap(formatFinding))
    return findings.some(({ state }) => state === 'fault') ? 1 : 0
  }
}

function formatFinding ({ check, state, text, remedy }: NamedFinding): string[] {
  const line = formatTable([[state.padEnd(7), check.padEnd(14), text]])
  return remedy === null ? line : [...line, ...formatTable([['', '', `        to fix it: ${remedy}`]])]
}

/** A finding and its check. */
export interface NamedFinding extends Finding {
  check: string
}

/** How long statements may wait for a lock, and how long they may take. */
const lockMs = 1000
const statementMs = 3000
/** How long one check and all checks may take. The last statements may take longer. */
const usualLimits = { checkMs: 4000, totalMs: 6000 }
/** Few, because some servers allow few connections. */
const atOnce = 4

/** Creates a read-only session with short timeouts. */
export function createReader (pool: PgPool): Session {
  // The server's timeout comes first and explains why.
  const session = createSession(pool, statementMs + 500)
  const settings = 'set transaction read only; ' +
    `set local lock_timeout to ${lockMs}; set local statement_timeout to ${statementMs}`
  const transaction: Session['transaction'] = (operation, work) =>
    session.transaction(`doctor ${operation}`, async (query) => {
      await query(settings)
      return work(query)
    })
  return { transaction, ...inTransactions(transaction) }
}

/** Runs checks, several at once. A check that takes too long is reported as such. */
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
    timer = setTimeout(() => resolve([describeLimit('it took too long')]), Math.max(0, limitMs))
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
