import { createSession } from '../../postgres/session.js'
import { quoteName } from '../../postgres/sql.js'
import type { Command } from '../command.js'
import { describeError } from '../database.js'
import { checkLists, listOptions } from '../rights.js'
import { readSecretKeys, secretKeysOption } from '../secrets.js'
import { formatTable, showResult, withProgress } from '../terminal.js'
import { copies, dueDeliveries, secrets, failing, workers } from './deliveries.js'
import { type Check, fault, type Finding, type DoctorContext } from './finding.js'
import { findLocks } from './locks.js'
import { clocks, hasTables, listening, migrations, packageIndexes, privileges, sync, transactions } from './server.js'
import { relations, watched } from './relations.js'

const queryTimeoutMs = 60_000
const checks: readonly Check[] = [migrations, privileges, packageIndexes, relations, copies, dueDeliveries, workers, transactions, sync, watched, clocks, listening, secrets, failing]

/** A finding and its check. */
export interface NamedFinding extends Finding {
  check: string
}

export const doctor: Command = {
  args: [],
  options: {
    ...listOptions,
    'no-lists': { value: null, about: 'skips both, if your server has no lists of candidates and jobs' },
    'tenant-ids': { value: null, about: 'reads the column tenant_id, because your servers have the option tenantId; by default tenant_slug, unless there is only tenant_id' },
    environment: { value: 'NAME', about: 'same as delivery.environment of your servers' },
    'secret-keys': secretKeysOption,
    'max-due-seconds': { value: 'SECONDS', about: 'how long a delivery may be due; the default is 300' },
    'max-lock-seconds': { value: 'SECONDS', about: 'how long a transaction may lock tables or rows that this package needs; the default is 5' },
    'max-transaction-seconds': { value: 'SECONDS', about: 'how long a transaction may be open; the default is 600' },
    'wait-seconds': { value: 'SECONDS', about: 'how long to look for a worker; the default is 3' }
  },
  runsUnmigrated: true,

  async run (context) {
    const { io, flags, pool, schema } = context
    // Wrong usage is reported before anything is checked.
    const secretKeys = await readSecretKeys(context)
    checkLists(flags)
    for (const name of ['max-due-seconds', 'max-lock-seconds', 'max-transaction-seconds', 'wait-seconds']) flags.integer(name)
    await pool.query('select')
    const checked: DoctorContext = {
      pool, schema, flags, secretKeys, session: createSession(pool, queryTimeoutMs), quotedSchema: quoteName(schema), now: io.now
    }
    const findings = await withProgress(io, 'checking', (report) => runChecks(checked, report))
    showResult(context, { findings }, findings.flatMap(formatFinding))
    return findings.some(({ state }) => state === 'fault') ? 1 : 0
  }
}

async function runChecks (context: DoctorContext, report: (text: string) => void): Promise<NamedFinding[]> {
  const { findings: locks, blocksReads } = await findLocks(context)
  const findings: NamedFinding[] = locks.map((finding) => ({ check: 'locks', ...finding }))
  // The other checks would wait for the same locks.
  if (blocksReads) return findings
  const isMigrated = await hasTables(context)
  for (const { name, needsTables, run } of checks) {
    if (needsTables && !isMigrated) continue
    report(name)
    const found = await run(context).catch((error: unknown) => [fault(`could not be checked: ${describeError(error)}`, 'resolve this error, then run the command again')])
    findings.push(...found.map((finding) => ({ check: name, ...finding })))
  }
  return findings
}

function formatFinding ({ check, state, text, remedy }: NamedFinding): string[] {
  const line = formatTable([[state.padEnd(7), check.padEnd(14), text]])
  return remedy === null ? line : [...line, ...formatTable([['', '', `        to fix it: ${remedy}`]])]
}
