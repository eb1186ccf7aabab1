import { isRecruitingApiError } from '../errors.js'
import type { TenantDeliveryStats } from '../ports/index.js'
import { type WatchOptions, migrate as migrateSchema, postgresStorage, watch as watchTable, watchSql } from '../postgres/index.js'
import { createSecretBox, resealSecrets } from '../webhooks/secrets.js'
import { type Command, type Context, UsageError } from './command.js'
import { readTenant, tenantOption } from './find.js'
import { readSecretKeys, secretKeysOption } from './secrets.js'
import { confirm, formatCount, formatRecord, showResult, withProgress } from './terminal.js'

export const migrate: Command = {
  args: [],
  options: { 'dry-run': { value: null, about: 'shows what would run, without changing anything' } },
  runsUnmigrated: true,

  async run (context) {
    const dryRun = context.flags.has('dry-run')
    const { pool, schema } = context
    const migrations = await withProgress(context.io, 'migrating', () => migrateSchema(pool, { schema, dryRun }))
    const done = dryRun ? 'would run' : 'ran'
    showResult(context, { migrations, dryRun }, migrations.length === 0 ? ['nothing to do'] : migrations.map((name) => `${done} ${name}`))
    return 0
  }
}

export const watch: Command = {
  args: [],
  options: {
    kind: { value: 'KIND', about: 'candidate or job: the kind of item that the rows describe', isRequired: true },
    relation: { value: 'TABLE', about: 'your table, such as public.people', isRequired: true },
    id: { value: 'COLUMN', about: 'the column with the id of the item, or an SQL expression over row', isRequired: true },
    tenant: { value: 'COLUMN', about: "the column with the tenant's id, or its slug if your servers have no option tenantId; or an SQL expression over row", isRequired: true },
    sql: { value: null, about: 'prints the SQL for a migration and changes nothing; run it where the table has its new columns' }
  },

  async run (context) {
    const { flags, pool, schema } = context
    // The option is the name of a column.
    context.audit.tenantSlug = null
    const relation = flags.required('relation')
    const kind = flags.required('kind') as WatchOptions['kind']
    const watched = { kind, id: flags.required('id'), tenant: flags.required('tenant') }
    function fail (error: unknown): never {
      if (isRecruitingApiError(error) && error.code === 'invalid_option') throw new UsageError(`--${error.message}`, { cause: error })
      throw error
    }
    if (flags.has('sql')) {
      const sql = await watchSql(pool, relation, { schema, ...watched }).catch(fail)
      showResult(context, { relation, ...watched, sql }, [sql])
      return 0
    }
    await watchTable(pool, relation, { schema, ...watched }).catch(fail)
    showResult(context, { relation, ...watched }, [`${relation} is watched for ${watched.kind}s`])
    return 0
  }
}

export const stats: Command = {
  args: [],
  options: { tenant: { ...tenantOption, isRequired: false, about: 'shows the figures of this tenant: its id, or its slug if your servers have no option tenantId' } },

  async run (context) {
    const { flags, pool, schema } = context
    const { deliveries, holds } = postgresStorage(pool, { schema })
    const tenant = flags.text('tenant')
    if (tenant !== undefined) return showTenantStats(context, await deliveries.tenantStats(readTenant('--tenant', tenant)))
    const [stats, held] = await Promise.all([deliveries.stats(), holds.find(null)])
    const { pending, due, leased, oldestDueMs, atLeast } = stats
    showResult(context, { ...stats, held }, formatRecord({
      pending: formatBounded(pending, atLeast.pending),
      due: formatBounded(due, atLeast.due),
      leased,
      'oldest due': formatSeconds(oldestDueMs),
      held: held === null ? 'no' : `since ${held.since}, because the database is a copy: see adopt`
    }))
    return 0
  }
}

export const adopt: Command = {
  args: [],
  options: {
    deliver: { value: null, about: 'sends the pending deliveries' },
    discard: { value: null, about: 'skips the pending deliveries' },
    environment: { value: 'NAME', about: 'delivery.environment of the servers of this database; without it, that of the first worker' }
  },

  async run (context) {
    const { flags, pool, schema } = context
    const isDiscarding = flags.has('discard')
    if (flags.has('deliver') === isDiscarding) throw new UsageError('--deliver or --discard: expected one of them')
    const { deliveries, holds } = postgresStorage(pool, { schema })
    const environment = flags.text('environment') ?? null
    const hold = await holds.find(environment)
    if (hold !== null) {
      const problem = hold.reason === 'copy' ? 'The database is a copy' : `The database does not belong to ${environment}`
      const { pending, atLeast } = await deliveries.stats()
      const count = atLeast.pending ? `${pending} or more pending deliveries` : formatCount(pending, 'pending delivery', 'pending deliveries')
      await confirm(context, `${problem}, and nothing has been sent since ${hold.since}. Its ${count} will ${isDiscarding ? 'be skipped' : 'be sent'}.`)
    }
    const adopted = await holds.adopt({ environment, pending: isDiscarding ? 'discard' : 'deliver' })
    showResult(context, { adopted }, [adopted === null ? 'nothing is held' : `adopted, with ${formatCount(adopted.pending, 'pending delivery', 'pending deliveries')}`])
    return 0
  }
}

function showTenantStats (context: Context, stats: TenantDeliveryStats): number {
  const { pending, oldestDueMs, failing, delivered, failed, atLeast } = stats
  showResult(context, stats, formatRecord({
    pending: formatBounded(pending, atLeast.pending),
    'oldest due': formatSeconds(oldestDueMs),
    'failing webhooks': failing,
    'delivered in the last hour': formatBounded(delivered, atLeast.delivered),
    'failed in the last hour': formatBounded(failed, atLeast.failed)
  }))
  return 0
}

function formatBounded (count: number, isMore: boolean): string {
  return `${count}${isMore ? ' or more' : ''}`
}

function formatSeconds (ms: number): string {
  return `${Math.round(ms / 1000)} s`
}

const batchSize = 1000

// No defaults: a shorter retention than the servers have would delete too much.
export const prune: Command = {
  args: [],
  options: {
    'retention-days': { value: 'DAYS', about: 'deletes ended deliveries and events older than this, like delivery.retentionDays: 1 to 3650', isRequired: true },
    'changes-retention-days': { value: 'DAYS', about: 'also deletes changes of candidates and jobs older than this, like changesRetentionDays' }
  },

  async run (context) {
    const { flags, io, pool, schema } = context
    const retentionDays = Number(flags.integer('retention-days', 1, 3650))
    const changesDays = flags.integer('changes-retention-days', 1, 3650)
    const more = changesDays === undefined ? '' : `, and changes older than ${changesDays} days`
    await confirm(context, `Deletes ended deliveries and events older than ${retentionDays} days${more}.`)
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
      if (changesDays !== undefined) await pruneAll(() => changes.prune({ retentionDays: changesDays, limit: batchSize }))
    })
    showResult(context, { pruned }, [`deleted ${formatCount(pruned, 'row')}`])
    return 0
  }
}

export const reseal: Command = {
  args: [],
  options: { 'secret-keys': { ...secretKeysOption, isRequired: true } },

  async run (context) {
    const { io, pool, schema } = context
    const box = createSecretBox(await readSecretKeys(context))
    await confirm(context, 'Encrypts every webhook secret with the first of the given keys. Your servers must already have that key.')
    const { webhooks } = postgresStorage(pool, { schema })
    const resealed = await withProgress(io, 'encrypting', () => resealSecrets(webhooks, box))
    showResult(context, { resealed }, [`encrypted ${formatCount(resealed, 'secret')}`])
    return 0
  }
}
