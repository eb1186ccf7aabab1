import { ask, createPatientSession } from '../../storages/postgres/session.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { listTenantIds, moveToId } from '../../storages/postgres/tenants.js'
import { systemClock } from '../../core/shared/clock.js'
import { createTenants, parseTenantId, tenantIdRule } from '../../core/shared/tenants.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from '../../core/shared/text.js'
import { createSecretBox, type SecretBox, createKeyBox } from '../../core/webhooks/secrets.js'
import { listEvents } from '../../core/webhooks/history.js'
import { createTenantOperations, createReseal } from '../../core/webhooks/tenants.js'
import { type Command, type Context, type Option, CommandError, UsageError } from './command.js'
import { readSlug, readTenant, openStorage, tenantOption } from './find.js'
import { readJsonFile, readSecretKeys, secretKeysOption } from './secrets.js'
import {
  changeEach, choose, confirm, formatCount, formatNames, formatRecords, showResult, withProgress, writeJsonLine,
  writeLines
} from './terminal.js'
import { formatPending } from './upkeep.js'

const idOption: Option = { value: 'ID', about: "the tenant's id, if your servers have the option tenantId" }

export const rename: Command = {
  args: ['FROM', 'TO'],
  options: { tenant: idOption, 'secret-keys': secretKeysOption },

  async run (context) {
    const { args: [from = '', to = ''] } = context
    const box = createSecretBox(await readSecretKeys(context), systemClock)
    const { id, counts } = await describeTenant(context, 'FROM', from)
    const { renameTenant } = openTenants(context, id, box)
    const yours = id === null
      ? ' Rename its candidates and jobs yourself. Nothing can use the old name for 61 minutes.'
      : ' Only its name in logs, notices and keys changes.'
    Object.assign(context.audit, { tenantSlug: from, resource: { kind: 'tenant', id: to } })
    await confirm(context, `Renames the tenant ${from} to ${to}: ${counts}.${yours}`)
    const { webhooks } = await renameTenant(from, to)
    showResult(context, { from, to, webhooks }, [`renamed ${from} to ${to}, with ${formatCount(webhooks, 'webhook')}`])
  }
}

export const remove: Command = {
  args: ['TENANT'],
  options: { tenant: idOption },

  async run (context) {
    const { args: [tenantSlug = ''], io } = context
    const { id, counts } = await describeTenant(context, 'TENANT', tenantSlug)
    const { removeTenant } = openTenants(context, id, createSecretBox([], systemClock))
    const rest = id === null ? ' Nothing can use its name for 61 minutes.' : ''
    Object.assign(context.audit, { tenantSlug, resource: { kind: 'tenant', id: tenantSlug } })
    await confirm(context, `Deletes the tenant ${tenantSlug} permanently: ${counts}.${rest}`)
    await withProgress(io, 'deleting', () => removeTenant(tenantSlug))
    showResult(context, { removed: tenantSlug }, [`removed ${tenantSlug}`])
  }
}

/** Reads the tenant to suspend or resume. `counts` describes its pending deliveries. */
async function describePending (context: Context) {
  const tenant = readTenant('TENANT', context.args[0] ?? '')
  const { webhooks, deliveries } = openStorage(context)
  const { pending, atLeast, suspendedSince } = await deliveries.tenantStats(tenant)
  Object.assign(context.audit, { tenantSlug: tenant, resource: { kind: 'tenant', id: tenant } })
  return { tenant, webhooks, suspendedSince, counts: formatPending(pending, atLeast.pending) }
}

export const suspend: Command = {
  args: ['TENANT'],

  async run (context) {
    const { tenant, webhooks, counts } = await describePending(context)
    const effect = 'its API requests get 403, and nothing is sent'
    await confirm(context, `Suspends the tenant ${tenant}: ${effect}. It has ${counts}.`)
    const since = await webhooks.suspendTenant(tenant)
    showResult(context, { tenant, suspendedSince: since }, [`${tenant} has been suspended since ${since}`])
  }
}

export const resume: Command = {
  args: ['TENANT'],
  options: {
    deliver: { value: null, about: 'sends the waiting deliveries' },
    skip: { value: null, about: 'skips the waiting deliveries' }
  },

  async run (context) {
    const { tenant, webhooks, suspendedSince: since, counts } = await describePending(context)
    if (since === null) {
      showResult(context, { tenant, resumed: null }, [`${tenant} is not suspended`])
      return
    }
    writeLines(context.io.err, [`The tenant ${tenant} has been suspended since ${since}. It has ${counts}.`])
    const pending = await choose(context, ['deliver', 'skip'], '--deliver or --skip')
    await confirm(context, pending === 'deliver' ? 'They will be sent.' : 'They will be skipped.')
    await webhooks.resumeTenant(tenant, { pending })
    showResult(context, { tenant, resumed: pending }, [`resumed ${tenant}`])
  }
}

export const suspended: Command = {
  async run (context) {
    const { webhooks, deliveries } = openStorage(context)
    const states = (await webhooks.listStates()).filter(({ suspendedSince }) => suspendedSince !== null)
    const rows = []
    for (const { tenantId, suspendedSince } of states) {
      const { pending } = await deliveries.tenantStats(tenantId)
      rows.push({ tenant: tenantId, suspendedSince, pending })
    }
    const columns = { tenant: 'tenant', since: 'suspendedSince', pending: 'pending' } as const
    showResult(context, rows, formatRecords(rows, columns, 'no tenant is suspended'))
  }
}

/** Opens a server's tenant operations; with an id, those of a server with the option `tenantId`. */
function openTenants (context: Context, id: string | null, box: SecretBox) {
  const { webhooks } = openStorage(context)
  const tenantId = id === null ? null : () => id
  const tenants = createTenants({ tenantId, tenantSlug: null, webhooks, clock: systemClock })
  return createTenantOperations({ assertOpen () {}, webhooks, tenants, secrets: box }, () => {})
}

/** Returns a tenant's id, `null` if it is the slug, and describes its records. Throws if it has none. */
async function describeTenant (
  context: Context, argument: string, given: string
): Promise<{ id: string | null, counts: string }> {
  const slug = readSlug(argument, given)
  const option = context.flags.text('tenant')
  const id = option === undefined ? null : readTenant('--tenant', option)
  const schema = quoteName(context.schema)
  const [counts] = await ask<{ webhooks: number, keys: number, has_events: boolean }>(context.pool, `
    select (select count(*)::int from ${schema}.webhooks where tenant = $1) as webhooks,
      (select count(*)::int from ${schema}.api_keys where tenant = $1) as keys,
      ${schema}.has_events_v1(coalesce((select key from ${schema}.tenants where tenant = $1), $1)) as has_events`, [id ?? slug])
  if (id !== null) await assertName(context, argument, slug, id)
  const { webhooks, keys, has_events: hasEvents } = { webhooks: 0, keys: 0, has_events: false, ...counts }
  if (webhooks + keys === 0 && !hasEvents) {
    throw new CommandError(`the tenant ${id ?? slug} has no webhooks, keys or events`)
  }
  const parts = [...id === null ? [] : [`id ${id}`], formatCount(webhooks, 'webhook'), formatCount(keys, 'key')]
  return { id, counts: `${parts.join(', ')}, and its events with their deliveries` }
}

/** Throws for an id whose webhooks and keys were created under other slugs: most likely a mistake. */
async function assertName ({ pool, schema }: Context, argument: string, slug: string, id: string): Promise<void> {
  const names = await ask<{ name: string }>(pool, `
    select tenant_slug as name from ${quoteName(schema)}.webhooks where tenant = $1
    union select tenant_slug from ${quoteName(schema)}.api_keys where tenant = $1`, [id])
  if (names.length === 0 || names.some(({ name }) => name === slug)) return
  throw new CommandError(
    `${argument}: the tenant with the id ${id} is ${names.map(({ name }) => name).join(' or ')}, not ${slug}`)
}

export const findSubject: Command = {
  args: ['SUBJECT'],
  options: { tenant: tenantOption },

  async run (context) {
    const { args: [subject = ''], flags, io } = context
    const tenant = readTenant('--tenant', flags.required('tenant'))
    if (!isPlainText(subject, 255)) {
      throw new UsageError(
        `SUBJECT: expected 1 to 255 characters without control characters, got ${JSON.stringify(subject)}`)
    }
    let rowCount = 0
    for await (const event of listEvents(openStorage(context).deliveries, tenant, subject)) {
      rowCount++
      writeJsonLine(io, event)
    }
    Object.assign(context.audit, { resource: { kind: 'subject', id: subject }, rowCount })
  }
}

export const useIds: Command = {
  args: ['FILE'],
  options: {
    'dry-run': { value: null, about: 'shows what would move, without changing anything' },
    'secret-keys': secretKeysOption
  },

  async run (context) {
    const { args: [path = ''], flags, pool } = context
    const ids = await readIds(path)
    const box = createKeyBox(await readSecretKeys(context))
    const schema = quoteName(context.schema)
    const session = createPatientSession(pool)
    const { webhooks } = openStorage(context)
    const moves = planMoves(ids, await listTenantIds(session, schema))
    if (moves.length === 0 || flags.has('dry-run')) {
      const table = formatRecords(moves, { slug: 'slug', id: 'id' }, 'nothing to do')
      showResult(context, { moved: [], planned: moves }, table)
      return
    }
    const effect = "Servers then need the option tenantId, and these tenants' syncs start again."
    await confirm(context, `Moves the data of ${formatCount(moves.length, 'tenant')} from slugs to ids. ${effect}`)
    await changeEach(context, 'moving', moves, async ({ slug, id }) => {
      await moveToId({ session, schema, webhooks }, { slug, id }, createReseal(box, slug, id))
      return { tenantSlug: slug, resource: { kind: 'tenant', id } }
    })
    showResult(context, { moved: moves, planned: moves }, [`moved the data of ${formatCount(moves.length, 'tenant')}`])
  }
}

/** Returns the tenants whose data is stored by slug. Throws if the owner of some data is unclear. */
function planMoves (ids: ReadonlyMap<string, string>, stored: readonly string[]) {
  const known = new Set(ids.values())
  const unknown = stored.filter((tenant) => !ids.has(tenant) && !known.has(tenant))
  if (unknown.length > 0) {
    throw new CommandError(`FILE: no id for the tenants ${formatNames(unknown)}, which have data: ` +
      'add them, or delete them with tenants remove')
  }
  return stored.flatMap((slug) => {
    const id = ids.get(slug)
    return id === undefined || id === slug ? [] : [{ slug, id }]
  })
}

async function readIds (path: string): Promise<Map<string, string>> {
  const given = await readJsonFile(path)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new UsageError('FILE: expected a JSON object from each slug to the id, such as {"acme": 41}')
  }
  const ids = new Map<string, string>()
  const slugs = new Map<string, string>()
  for (const [slug, value] of Object.entries(given)) {
    if (!isTenantSlug(slug)) throw new UsageError(`FILE: expected ${tenantSlugRule}, got ${JSON.stringify(slug)}`)
    const id = parseTenantId(value)
    if (id === null) throw new UsageError(`FILE: expected the id of ${slug} to be ${tenantIdRule}`)
    const other = slugs.get(id)
    if (other !== undefined) throw new UsageError(`FILE: ${other} and ${slug} have the same id ${id}`)
    ids.set(slug, id)
    slugs.set(id, slug)
  }
  for (const [slug, id] of ids) {
    // Otherwise it would be unclear whether the id's data has already moved.
    if (slug !== id && ids.has(id)) {
      throw new UsageError(
        `FILE: the id ${id} of ${slug} is the slug of another tenant: make tenantId return ids with a prefix`)
    }
  }
  return ids
}
