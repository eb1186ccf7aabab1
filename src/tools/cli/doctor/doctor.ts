import { setTimeout as sleep } from 'node:timers/promises'
import { isRecruitingApiError } from '../../../core/shared/errors.js'
import type { PgPool } from '../../../storages/postgres/index.js'
import { createSession, inTransactions, type Session } from '../../../storages/postgres/session.js'
import { quoteName } from '../../../storages/postgres/sql.js'
import { findMissing, readVersion } from '../../../storages/postgres/upgrade/version.js'
import { readField } from '../../../core/shared/fields.js'
import type { Command } from '../command.js'
import { describeError } from '../database.js'
import { checkLists, listOptions } from '../set-up.js'
import { readSecretKeys, secretKeysOption } from '../secrets.js'
import { formatTable, showResult, withProgress } from '../terminal.js'
import { dataChecks } from './data.js'
import { type Check, type DoctorContext, fault, type Finding, ok, unknown } from './finding.js'
import { filterOptions, readFilters, relationsCheck, watchedCheck } from './relations.js'
import { schemaCheck } from './schema.js'
import { serverChecks } from './server.js'
import { transactionChecks } from './transactions.js'

const checks: readonly Check[] = [
  ...transactionChecks,
  ...serverChecks,
  relationsCheck,
  ...[schemaCheck, ...dataChecks, watchedCheck].map((check) => ({ ...check, needsTables: true }))
]

export const doctor: Command = {
  options: {
    ...listOptions,
    ...filterOptions,
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
      value: 'DAYS', about: 'same as changesRetentionDays of your servers; the default is 90'
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
    for (const option of ['candidates', 'jobs'] as const) readFilters(flags, { option })
    const inSeconds = Object.keys(doctor.options ?? {}).filter((name) => name.endsWith('-seconds'))
    for (const name of inSeconds) flags.integer(name)
    for (const name of ['retention-days', 'changes-retention-days']) flags.integer(name, 1, 3650)
    const session = createReader(pool)
    await session.query('connect', 'select')
    const query: DoctorContext['query'] = (text, values) => session.query('check', text, values)
    const { now } = io
    const checked = { pool, schema, quotedSchema: quoteName(schema), flags, secretKeys, session, query, now }
    const findings = await withProgress(io, 'checking', (report) => runChecks(checks, checked, report))
    showResult(context, { findings }, findings.flatMap(formatFinding))
    return findings.some(({ state }) => state === 'fault') ? 1 : 0
  }
}

function formatFinding ({ check, state, text, remedy }: NamedFinding): string[] {
  const line = formatTable([[state.padEnd(7), check.padEnd(14), text]])
  return remedy === null ? line : [...line, ...formatTable([['', '', `        to fix it: ${remedy}`]])]
}

export type NamedFinding = Finding & { check: string }

/** How long statements may wait for a lock, and how long they may take. */
const [lockMs, statementMs] = [1000, 3000]
/** How long one check and all checks may take. The last statements may take longer. */
const usualLimits = { checkMs: 4000, totalMs: 6000 }
/** Few, because some servers allow few connections. */
const atOnce = 4

/** Creates a read-only session with short timeouts. */
export function createReader (pool: PgPool): Session {
  // The server's timeout comes first, so that the connection stays usable.
  const session = createSession(pool, statementMs + 500)
  const transaction: Session['transaction'] = (operation, work) =>
    session.transaction(`doctor ${operation}`, async (query) => {
      await query(`set transaction read only; set local lock_timeout to ${lockMs};
        set local statement_timeout to ${statementMs}`)
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
  const checks = all.filter(({ needsTables = false }) => isMigrated || !needsTables)
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
  return findMissing(query, schema, await readVersion()).then(({ migrations }) => migrations.length === 0,
    (error: unknown) => !isRecruitingApiError(error) || error.code === 'storage_timeout')
}

async function runCheck ({ find, ok: usual }: Check, context: DoctorContext, limitMs: number): Promise<Finding[]> {
  const done = new AbortController()
  const expired = sleep(Math.max(0, limitMs), [describeLimit('it took too long')], { signal: done.signal })
  try {
    const found = await Promise.race([find(context), expired])
    return found.length === 0 && usual !== undefined ? [ok(usual)] : found
  } catch (error) {
    return [describeFailure(error)]
  } finally {
    expired.catch(() => {})
    done.abort()
  }
}

function describeFailure (error: unknown): Finding {
  const code = readField(error, 'code')
  if (code === '55P03') return describeLimit(`it waited ${lockMs / 1000} s for a locked table: see the check locks`)
  if (code === 'storage_timeout') return describeLimit(`a statement took more than ${statementMs / 1000} s`)
  return code === '42501'
    ? unknown(`not checked, because the database user lacks a privilege: ${describeError(error)}`,
      'grant the privileges that the check privileges names, or run doctor as the owner of the schema')
    : fault(`could not be checked: ${describeError(error)}`, 'resolve this error, then run the command again')
}

function describeLimit (reason: string): Finding {
  return unknown(`not checked, because ${reason}`, 'run the command again when the server is less busy')
}
