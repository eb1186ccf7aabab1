import { isRecruitingApiError } from '../../core/shared/errors.js'
import type { Hold, TenantDeliveryStats } from '../../core/ports/index.js'
import {
  findHostRelation, type HostRelation, listGrants, listHeld, listLacking, listLackingOnLists
} from '../../storages/postgres/grants.js'
import {
  migrate as migrateSchema, postgresStorage, watch as watchTable, type WatchOptions, watchSql
} from '../../storages/postgres/index.js'
import { candidateKind, jobKind } from '../../storages/postgres/lists/row-kind.js'
import { inTransaction } from '../../storages/postgres/pool.js'
import { ask, type RunQuery } from '../../storages/postgres/session.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { systemClock } from '../../core/shared/clock.js'
import { createSecretBox, resealSecrets } from '../../core/webhooks/secrets.js'
import { type Command, type Context, type Flags, type Options, CommandError, UsageError } from './command.js'
import { readTenant, tenantOption } from './find.js'
import { readSecretKeys, secretKeysOption } from './secrets.js'
import { confirm, formatCount, formatRecord, showResult, withProgress, writeLines } from './terminal.js'

export const migrate: Command = {
  options: { 'dry-run': { value: null, about: 'shows what would run, without changing anything' } },
  runsUnmigrated: true,

  async run (context) {
    const dryRun = context.flags.has('dry-run')
    const { pool, schema } = context
    const migrations = await withProgress(context.io, 'migrating', () => migrateSchema(pool, { schema, dryRun }))
    const done = dryRun ? 'would run' : 'ran'
    const lines = migrations.length === 0 ? ['nothing to do'] : migrations.map((name) => `${done} ${name}`)
    showResult(context, { migrations, dryRun }, lines)
  }
}

export const watch: Command = {
  options: {
    kind: { value: 'KIND', about: 'candidate or job: the kind of item that the rows describe', isRequired: true },
    relation: { value: 'TABLE', about: 'your table, such as public.people', isRequired: true },
    id: {
      value: 'COLUMN',
      about: "the column with the item's id, or an SQL expression over row",
      isRequired: true
    },
    tenant: {
      value: 'COLUMN',
      about:
        "the column with the tenant's id, or its slug if your servers have no option tenantId; or an SQL expression over row",
      isRequired: true
    },
    sql: {
      value: null,
      about: 'prints the SQL for a migration and changes nothing; run it where the table has its new columns'
    }
  },

  async run (context) {
    const { flags, pool, schema } = context
    // Here, --tenant is the name of a column.
    context.audit.tenantSlug = null
    const relation = flags.required('relation')
    const kind = flags.required('kind') as WatchOptions['kind']
    const watched = { kind, id: flags.required('id'), tenant: flags.required('tenant') }
    function fail (error: unknown): never {
      if (isRecruitingApiError(error) && error.code === 'invalid_option') {
        throw new UsageError(`--${error.message}`, { cause: error })
      }
      throw error
    }
    if (flags.has('sql')) {
      const sql = await watchSql(pool, relation, { schema, ...watched }).catch(fail)
      showResult(context, { relation, ...watched, sql }, [sql])
      return
    }
    await watchTable(pool, relation, { schema, ...watched }).catch(fail)
    showResult(context, { relation, ...watched }, [`${relation} is watched for ${watched.kind}s`])
  }
}

export const stats: Command = {
  options: {
    tenant: {
      ...tenantOption,
      isRequired: false,
      about: "shows this tenant's statistics: its id, or its slug if your servers have no option tenantId"
    }
  },

  async run (context) {
    const { flags, pool, schema } = context
    const { deliveries, holds } = postgresStorage(pool, { schema })
    const tenant = flags.text('tenant')
    if (tenant !== undefined) {
      return showTenantStats(context, await deliveries.tenantStats(readTenant('--tenant', tenant)))
    }
    const [stats, held] = await Promise.all([deliveries.stats(), holds.find(null)])
    const { pending, due, leased, oldestDueMs, atLeast } = stats
    showResult(context, { ...stats, held }, formatRecord({
      pending: formatBounded(pending, atLeast.pending),
      due: formatBounded(due, atLeast.due),
      leased,
      'oldest due': formatSeconds(oldestDueMs),
      held: held === null ? 'no' : `since ${held.since}, because the database is a copy: see adopt`
    }))
  }
}

export const adopt: Command = {
  options: {
    deliver: { value: null, about: 'sends the pending deliveries' },
    discard: { value: null, about: 'skips the pending deliveries, deactivates every webhook and revokes every key' },
    'keep-webhooks': {
      value: null,
      about: 'with --discard: webhooks stay active, so new events reach their receivers'
    },
    'keep-keys': { value: null, about: 'with --discard: keys stay valid' },
    environment: {
      value: 'NAME',
      about: "same as delivery.environment of this database's servers; the default is the first worker's"
    }
  },

  async run (context) {
    const { flags, pool, schema } = context
    const keepWebhooks = flags.has('keep-webhooks')
    const keepKeys = flags.has('keep-keys')
    if (flags.has('deliver') && flags.has('discard')) {
      throw new UsageError('--deliver or --discard: expected one of them')
    }
    if ((keepWebhooks || keepKeys) && !flags.has('discard')) {
      throw new UsageError(`--${keepWebhooks ? 'keep-webhooks' : 'keep-keys'}: only with --discard`)
    }
    const { holds } = postgresStorage(pool, { schema })
    const environment = flags.text('environment') ?? null
    const hold = await holds.find(environment)
    if (hold === null) {
      showResult(context, { adopted: null }, ['nothing is held'])
      return
    }
    writeLines(context.io.err, await describeHold(context, hold, environment))
    const pending = await readPending(context)
    const discarded = [
      'Its pending deliveries will be skipped.',
      keepWebhooks ? 'Webhooks stay active.' : 'Every webhook becomes inactive.',
      keepKeys ? 'Keys stay valid.' : 'Every key is revoked.'
    ]
    await confirm(context, pending === 'deliver' ? 'Its pending deliveries will be sent.' : discarded.join(' '))
    const adopted = await holds.adopt({ environment, pending, keepWebhooks, keepKeys })
    const done = adopted === null
      ? 'nothing is held'
      : `adopted, with ${formatCount(adopted.pending, 'pending delivery', 'pending deliveries')}`
    showResult(context, { adopted }, [done])
  }
}

/** Describes why nothing is sent, and which deliveries are pending. */
async function describeHold ({ pool, schema }: Context, hold: Hold, environment: string | null): Promise<string[]> {
  const { pending, atLeast } = await postgresStorage(pool, { schema }).deliveries.stats()
  const [counts] = await ask<{ webhooks: number, keys: number }>(pool, `
    select (select count(*)::int from ${quoteName(schema)}.webhooks where status = 'active') as webhooks,
      (select count(*)::int from ${quoteName(schema)}.api_keys
        where revoked_at is null and least(expires_at, replaced_at) > now() is not false) as keys`)
  const problem = hold.reason === 'copy' ? 'The database is a copy' : `The database does not belong to ${environment}`
  const deliveries = atLeast.pending
    ? `${pending} or more pending deliveries`
    : formatCount(pending, 'pending delivery', 'pending deliveries')
  const { webhooks, keys } = { webhooks: 0, keys: 0, ...counts }
  return [
    `${problem}, and nothing has been sent since ${hold.since}.`,
    `It has ${deliveries}, ${formatCount(webhooks, 'active webhook')} and ${formatCount(keys, 'valid key')}.`
  ]
}

async function readPending ({ io, flags }: Context): Promise<'deliver' | 'discard'> {
  if (flags.has('deliver')) return 'deliver'
  if (flags.has('discard')) return 'discard'
  const expected = '--deliver (production was restored) or --discard (staging)'
  if (io.ask === null || flags.has('yes')) throw new UsageError(`${expected}: expected one of them`)
  const answer = (await io.ask('deliver, discard or nothing? ')).trim().toLowerCase()
  if (answer === 'deliver' || answer === 'discard') return answer
  throw new CommandError('nothing was changed')
}

function showTenantStats (context: Context, stats: TenantDeliveryStats): void {
  const { pending, oldestDueMs, failing, delivered, failed, atLeast } = stats
  showResult(context, stats, formatRecord({
    pending: formatBounded(pending, atLeast.pending),
    'oldest due': formatSeconds(oldestDueMs),
    'failing webhooks': failing,
    'delivered in the last hour': formatBounded(delivered, atLeast.delivered),
    'failed in the last hour': formatBounded(failed, atLeast.failed)
  }))
}

function formatBounded (count: number, isMore: boolean): string {
  return `${count}${isMore ? ' or more' : ''}`
}

function formatSeconds (ms: number): string {
  return `${Math.round(ms / 1000)} s`
}

const batchSize = 1000

// No defaults: a shorter retention than the servers' would delete too much.
export const prune: Command = {
  options: {
    'retention-days': {
      value: 'DAYS',
      about: 'deletes finished deliveries and events older than this, like delivery.retentionDays: 1 to 3650',
      isRequired: true
    },
    'changes-retention-days': {
      value: 'DAYS',
      about: 'also deletes changes of candidates and jobs older than this, like changesRetentionDays'
    }
  },

  async run (context) {
    const { flags, io, pool, schema } = context
    const retentionDays = Number(flags.integer('retention-days', 1, 3650))
    const changesDays = flags.integer('changes-retention-days', 1, 3650)
    const more = changesDays === undefined ? '' : `, and changes older than ${changesDays} days`
    await confirm(context, `Deletes finished deliveries and events older than ${retentionDays} days${more}.`)
    const { deliveries, changes } = postgresStorage(pool, { schema })
    let pruned = 0
    await withProgress(io, 'pruning', async (report) => {
      async function pruneAll (pruneBatch: () => Promise<number>): Promise<void> {
        for (let count = -1; count !== 0; pruned += count) {
          count = await pruneBatch()
          report(formatCount(pruned + count, 'row'))
        }
      }
      await pruneAll(() => deliveries.prune({ retentionDays, limit: batchSize }))
      if (changesDays !== undefined) {
        await pruneAll(() => changes.prune({ retentionDays: changesDays, limit: batchSize }))
      }
    })
    showResult(context, { pruned }, [`deleted ${formatCount(pruned, 'row')}`])
  }
}

export const reseal: Command = {
  options: { 'secret-keys': { ...secretKeysOption, isRequired: true } },

  async run (context) {
    const { io, pool, schema } = context
    const box = createSecretBox(await readSecretKeys(context), systemClock)
    await confirm(context,
      'Encrypts every webhook secret with the first of the given keys. Your servers must already have that key.')
    const { webhooks } = postgresStorage(pool, { schema })
    const resealed = await withProgress(io, 'encrypting', () => resealSecrets(webhooks, box))
    showResult(context, { resealed }, [`encrypted ${formatCount(resealed, 'secret')}`])
  }
}

const kinds = [candidateKind, jobKind]

export const listOptions: Options = {
  candidates: { value: 'RELATION', about: 'your table or view of candidates, such as public.api_candidates' },
  jobs: { value: 'RELATION', about: 'your table or view of jobs' }
}

export function checkLists (flags: Flags): void {
  const named = kinds.find(({ option }) => flags.has(option))
  if (flags.has('no-lists') && named !== undefined) {
    throw new UsageError(`--no-lists: cannot be combined with --${named.option}`)
  }
}

/** Finds the host's relations that the flags name; `null` for one that does not exist. */
export async function findLists (
  query: RunQuery, schema: string, flags: Flags
): Promise<Array<{ option: string, relation: HostRelation | null }>> {
  if (flags.has('no-lists')) return []
  return Promise.all(kinds.map(async ({ option }) => {
    const relation = await findHostRelation(query, flags.text(option) ?? `${quoteName(schema)}.${option}`)
    return { option, relation }
  }))
}

export const grants: Command = {
  options: {
    role: {
      value: 'NAME',
      about: 'the database user of your servers and workers, or a role that they are members of'
    },
    sql: { value: null, about: 'shows the privileges that roles have on both relations, to grant them to new views' },
    ...listOptions,
    'no-lists': { value: null, about: 'skips both, if your server has no lists of candidates and jobs' },
    emit: { value: null, about: 'only for a process that emits events and records changes, without secrets and lists' },
    apply: { value: null, about: 'grants the privileges, instead of showing the statements' }
  },

  async run (context) {
    const { flags, pool, schema } = context
    checkLists(flags)
    if (flags.has('sql') && (
      ['apply', 'emit', 'no-lists'].some((name) => flags.has(name)) || flags.text('role') !== undefined
    )) {
      throw new UsageError('--sql: cannot be combined with --role, --apply, --emit and --no-lists')
    }
    const query: RunQuery = (text, values) => ask(pool, text, values)
    const role = flags.has('sql') ? null : flags.text('role')
    if (role === undefined) throw new UsageError('--role: missing, add --role NAME')
    if (role !== null && (await query('select from pg_roles where rolname = $1', [role])).length === 0) {
      throw new CommandError(`--role: there is no role ${role}: create it first`)
    }
    const isEmitter = flags.has('emit')
    const named = [...kinds.map(({ option }) => option), 'no-lists'].find((name) => isEmitter && flags.has(name))
    if (named !== undefined) throw new UsageError(`--emit: cannot be combined with --${named}`)
    const lists = isEmitter
      ? []
      : (await findLists(query, schema, flags)).map(({ option, relation }) => {
          if (relation !== null) return relation
          const name = flags.text(option) ?? `${schema}.${option}`
          throw new CommandError(`--${option}: there is no table or view ${name}: name your own, ` +
        `--${option} public.api_${option}, or add --no-lists if your server has no lists of candidates and jobs`)
        })
    if (role === null) {
      const statements = await listHeld(query, lists)
      showResult(context, { statements }, statements.map((statement) => `${statement};`))
      return
    }
    const statements = listGrants(schema, role, lists, isEmitter)
    if (!flags.has('apply')) {
      showResult(context, { role, statements, applied: false }, statements.map((statement) => `${statement};`))
      return
    }
    const privileges = `${role} the privileges of ${isEmitter ? 'processes that only emit' : 'servers and workers'}`
    const granted = [`the schema ${schema}`, ...lists.map((list) => `${list.schema}.${list.name}`)]
    await confirm(context, `Grants ${privileges} on ${granted.join(', ')}.`)
    await inTransaction(pool, async (client) => {
      for (const statement of statements) await client.query(statement)
      const queryAfter: RunQuery = (text, values) => ask(client, text, values)
      // Without the privilege to grant, PostgreSQL may warn instead of failing.
      const lacking = [
        ...await listLacking(queryAfter, schema, role, isEmitter), ...await listLackingOnLists(queryAfter, role, lists)
      ]
      if (lacking.length === 0) return
      throw new CommandError(
        `${role} still lacks ${lacking.join(', ')}: run this as the owner of the schema and of your tables`)
    })
    showResult(context, { role, statements, applied: true }, [`granted ${privileges}`])
  }
}
