import { createSession } from '../../postgres/session.js'
import { quoteName } from '../../postgres/sql.js'
import type { Command } from '../command.js'
import { describeError } from '../database.js'
import { formatTable, show } from '../output.js'
import { withProgress } from '../progress.js'
import { readSecretKeys, secretKeysOption } from '../secret-keys.js'
import { type Check, type Finding, type Patient, fault } from './finding.js'
import { hasTables, migrations, ownIndexes } from './migrations.js'
import { dueDeliveries, workers } from './queue.js'
import { relations } from './relations.js'
import { clocks, listening, sync, transactions } from './server.js'
import { secrets, unwell } from './webhooks.js'

const queryTimeoutMs = 60_000
const checks: readonly Check[] = [migrations, ownIndexes, relations, dueDeliveries, workers, transactions, sync, clocks, listening, secrets, unwell]

export const command: Command = {
  args: [],
  options: {
    candidates: { value: 'RELATION', about: 'your table or view of candidates, such as public.api_candidates' },
    jobs: { value: 'RELATION', about: 'your table or view of jobs' },
    'secret-keys': secretKeysOption,
    'max-due-seconds': { value: 'SECONDS', about: 'how long a delivery may be due; the default is 300' },
    'max-transaction-seconds': { value: 'SECONDS', about: 'how long a transaction may be open; the default is 600' },
    'wait-seconds': { value: 'SECONDS', about: 'how long to look for a worker; the default is 3' }
  },
  runsUnmigrated: true,

  async run (context) {
    const { io, flags, pool, schema } = context
    // Wrong usage is reported before anything is checked.
    await readSecretKeys(flags)
    for (const name of ['max-due-seconds', 'max-transaction-seconds', 'wait-seconds']) flags.integer(name)
    await pool.query('select')
    const patient: Patient = {
      pool, schema, flags, session: createSession(pool, queryTimeoutMs), quotedSchema: quoteName(schema), now: io.now
    }
    const findings = await withProgress(io, 'checking', (report) => runChecks(patient, report))
    show(context, { findings }, findings.map(formatFinding).join(''))
    return findings.some(({ state }) => state === 'fault') ? 1 : 0
  }
}

async function runChecks (patient: Patient, report: (text: string) => void): Promise<Finding[]> {
  const findings: Finding[] = []
  const isMigrated = await hasTables(patient)
  for (const { name, needsTables, run } of checks) {
    if (needsTables && !isMigrated) continue
    report(name)
    const found = await run(patient).catch((error: unknown) => [fault(`could not be checked: ${describeError(error)}`, 'mend this, and run the command again')])
    findings.push(...found.map((finding) => ({ check: name, ...finding })))
  }
  return findings
}

function formatFinding ({ check, state, text, remedy }: Finding): string {
  const line = formatTable([[state.padEnd(7), check.padEnd(14), text]])
  return remedy === null ? line : line + formatTable([['', '', `        to mend it: ${remedy}`]])
}
