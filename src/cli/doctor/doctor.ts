import { quoteName } from '../../postgres/sql.js'
import type { Command } from '../command.js'
import { checkLists, listOptions } from '../rights.js'
import { readSecretKeys, secretKeysOption } from '../secrets.js'
import { formatTable, showResult, withProgress } from '../terminal.js'
import { checks } from './checks.js'
import type { DoctorContext } from './finding.js'
import { createReader, type NamedFinding, runChecks } from './run-checks.js'

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
    // Wrong usage is reported before anything is checked.
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
