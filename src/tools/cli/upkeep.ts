import type { Hold, MissedChanges, TenantDeliveryStats } from '../../core/ports/index.js'
import { postgresStorage } from '../../storages/postgres/index.js'
import { ask } from '../../storages/postgres/session.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { systemClock } from '../../core/shared/clock.js'
import { createSecretBox, resealSecrets } from '../../core/webhooks/secrets.js'
import { type Command, type Context, UsageError } from './command.js'
import { readTenant, tenantOption } from './find.js'
import { readSecretKeys, secretKeysOption } from './secrets.js'
import { choose, confirm, formatCount, formatRecord, showResult, withProgress, writeLines } from './terminal.js'

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
    const { deliveries, holds, subscriptions, changes } = postgresStorage(pool, { schema })
    const tenant = flags.text('tenant')
    if (tenant !== undefined) {
      return showTenantStats(context, await deliveries.tenantStats(readTenant('--tenant', tenant)))
    }
    const [stats, held, agents, missed] = await Promise.all([
      deliveries.stats(), holds.find(null), subscriptions.stats(), changes.missed?.() ?? []
    ])
    const { pending, due, leased, oldestDueMs, atLeast, suspendedTenants } = stats
    showResult(context, { ...stats, held, subscriptions: agents, missed }, formatRecord({
      pending: formatBounded(pending, atLeast.pending),
      due: formatBounded(due, atLeast.due),
      leased,
      'oldest due': formatSeconds(oldestDueMs),
      'suspended tenants': suspendedTenants,
      'subscriptions of agents': `${agents.live}, ${agents.failing} failing`,
      'missing from watched tables': formatMissed(missed),
      held: held === null ? 'no' : `since ${held.since}, because the database is a copy: see adopt`
    }))
  }
}

function formatMissed (missed: readonly MissedChanges[]): string {
  const what = missed.map(({ table, eventType }) =>
    `${eventType === null ? 'changes' : `events of ${eventType}`} of ${table}`)
  return what.length === 0 ? 'nothing' : `${what.join(', ')}: see doctor`
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
    const pending = await choose(
      context, ['deliver', 'discard'], '--deliver (production was restored) or --discard (staging)')
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
  const deliveries = formatPending(pending, atLeast.pending)
  const { webhooks, keys } = { webhooks: 0, keys: 0, ...counts }
  return [
    `${problem}, and nothing has been sent since ${hold.since}.`,
    `It has ${deliveries}, ${formatCount(webhooks, 'active webhook')} and ${formatCount(keys, 'valid key')}.`
  ]
}

function showTenantStats (context: Context, stats: TenantDeliveryStats): void {
  const { pending, oldestDueMs, failing, delivered, failed, atLeast, suspendedSince } = stats
  showResult(context, stats, formatRecord({
    pending: formatBounded(pending, atLeast.pending),
    'oldest due': formatSeconds(oldestDueMs),
    'failing webhooks': failing,
    'delivered in the last hour': formatBounded(delivered, atLeast.delivered),
    'failed in the last hour': formatBounded(failed, atLeast.failed),
    suspended: suspendedSince === null ? 'no' : `since ${suspendedSince}: see tenants resume`
  }))
}

export function formatPending (count: number, isMore: boolean): string {
  return isMore ? `${count} or more pending deliveries` : formatCount(count, 'pending delivery', 'pending deliveries')
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
      about: 'also deletes changes of candidates, jobs and own lists older than this, like changesRetentionDays'
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
