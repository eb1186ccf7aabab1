import type { StandaloneRecruiting } from '../../recruiting.js'
import type { Webhook, WebhookStore } from '../../core/ports/index.js'
import { ask } from '../../storages/postgres/session.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { readField } from '../../core/shared/fields.js'
import { Type } from '../../core/shared/typebox.js'
import type { ImportWebhookInput } from '../../core/webhooks/recruiting.js'
import { hintForSecret } from '../../core/webhooks/sending/signature.js'
import type { EventCatalogue } from '../../core/api/catalogue.js'
import { type Command, type Context, type Option, type Options, CommandError, UsageError } from './command.js'
import { describeError, importEntry } from './database.js'
import { findTarget, openStorage, readTenant, tenantOption } from './find.js'
import { readJsonArray, readSecret, readSecretKeys, secretKeysOption, secretOptions } from './secrets.js'
import {
  changeEach, confirm, formatCount, formatRecord, formatRecords, formatTable, showResult, withProgress, writeLines
} from './terminal.js'

const batchSize = 200
const statuses = ['active', 'inactive', 'disabled'] as const
const anyTenantOption: Option = {
  ...tenantOption,
  isRequired: false,
  about: `${tenantOption.about}; the default is all tenants`
}

export const list: Command = {
  options: {
    tenant: anyTenantOption,
    status: { value: 'STATUS', about: `${statuses.join(', ')}; the default is all of them` },
    'event-type': { value: 'TYPE', about: 'only webhooks that subscribe to this event type, which may be retired' }
  },

  async run (context) {
    const type = context.flags.text('event-type')
    const selected = await selectWebhooks(context)
    const found = selected.filter(({ event_types: types }) => type === undefined || types.includes(type))
    showResult(context, found, formatRecords(found, {
      id: 'id', tenant: 'tenant_slug', status: 'status', name: 'name', address: 'target_url', 'event types': 'event_types'
    }, 'no webhooks'))
  }
}

interface SelectedWebhook extends Pick<Webhook, 'id' | 'status' | 'name' | 'target_url' | 'event_types'> {
  tenant_id: string
  tenant_slug: string
}

async function selectWebhooks ({ flags, pool, schema }: Context): Promise<SelectedWebhook[]> {
  const given = flags.text('tenant')
  const tenant = given === undefined ? null : readTenant('--tenant', given)
  const status = flags.oneOf('status', statuses) ?? null
  const found: SelectedWebhook[] = []
  for (;;) {
    const batch = await ask<Omit<SelectedWebhook, 'id'> & { id: string }>(pool, `
      select tenant as tenant_id, tenant_slug, id::text, status, name, target_url, event_types
      from ${quoteName(schema)}.webhooks w
      where w.id > $1 and ($2::text is null or tenant = $2) and ($3::text is null or status = $3)
      order by w.id limit $4`, [found.at(-1)?.id ?? 0, tenant, status, batchSize])
    found.push(...batch.map((row) => ({ ...row, id: Number(row.id) })))
    if (batch.length < batchSize) return found
  }
}

export const disableAll = createBulkCommand({
  verb: 'Deactivates',
  done: 'deactivated',
  consequence: 'Their pending deliveries become skipped; replay can send them later.',
  isChanged: ({ status }) => status !== 'inactive',
  change: (webhooks, { tenant_id: tenant, id }) => webhooks.update(tenant, id, { status: 'inactive' })
})

export const removeAll = createBulkCommand({
  verb: 'Deletes',
  done: 'deleted',
  consequence: 'Their pending deliveries are cancelled. This cannot be undone.',
  isChanged: () => true,
  change: (webhooks, { tenant_id: tenant, id }) => webhooks.delete(tenant, id)
})

function createBulkCommand ({ verb, done, consequence, isChanged, change }: {
  verb: string
  done: string
  consequence: string
  isChanged: (webhook: SelectedWebhook) => boolean
  change: (webhooks: WebhookStore, webhook: SelectedWebhook) => Promise<unknown>
}): Command {
  return {
    options: {
      tenant: anyTenantOption,
      status: { value: 'STATUS', about: `only webhooks with this status: ${statuses.join(', ')}` }
    },

    async run (context) {
      const selected = (await selectWebhooks(context)).filter(isChanged)
      const tenants = new Set(selected.map(({ tenant_id: id }) => id))
      const count = formatCount(selected.length, 'webhook')
      if (selected.length === 0) {
        showResult(context, { changed: [] }, ['nothing to do'])
        return
      }
      await confirm(context, `${verb} ${count} of ${formatCount(tenants.size, 'tenant')}. ${consequence}`)
      const { webhooks } = openStorage(context)
      await changeEach(context, done, selected, async (webhook) => {
        await change(webhooks, webhook)
        return { tenantSlug: webhook.tenant_slug, resource: { kind: 'webhook', id: webhook.id } }
      })
      showResult(context, { changed: selected.map(({ id }) => id) }, [`${done} ${count}`])
    }
  }
}

export const remove: Command = {
  args: ['ID'],

  async run (context) {
    const { args: [given = ''] } = context
    const { tenant, id, text } = await findTarget(context, 'ID', given)
    await confirm(context, `Deletes ${text}. Its pending deliveries are cancelled.`)
    await openStorage(context).webhooks.delete(tenant.id, id)
    showResult(context, { deleted: id }, [`deleted the webhook ${id}`])
  }
}

const usualLimit = 100
const maxPending = 1000

export const failing: Command = {
  options: { limit: { value: 'COUNT', about: `shows at most this many, 1 to 1000; the default is ${usualLimit}` } },

  async run (context) {
    const limit = context.flags.integer('limit', 1, 1000) ?? usualLimit
    const failing = await openStorage(context).webhooks.listFailing({ limit, maxPending })
    const rows = failing.map(({ webhook, health, ...others }) => ({ ...webhook, ...health, ...others }))
    showResult(context, failing, formatRecords(rows, {
      id: 'id',
      tenant: 'tenantSlug',
      status: 'status',
      'failing since': 'failing_since',
      failed: 'failed_deliveries',
      'last error': 'lastError',
      cause: 'lastDetail',
      response: 'lastResponseStatus',
      waiting: 'pending',
      address: 'target_url'
    }, 'no webhook is failing or disabled'))
  }
}

export const show: Command = {
  args: ['ID'],

  async run (context) {
    const { args: [given = ''] } = context
    const { tenant, id, webhook } = await findTarget(context, 'ID', given)
    const { webhooks } = openStorage(context)
    const health = await webhooks.findHealth(tenant.id, id)
    const named = { tenant_slug: tenant.slug, tenant_id: tenant.id, ...webhook }
    const graceEnd = { previous_secret_expires_at: await webhooks.findGraceEnd(tenant.id, id) }
    const headers = webhook.headers === null ? null : Object.keys(webhook.headers)
    const filters = webhook.filters && JSON.stringify(webhook.filters)
    showResult(context, { ...named, health, ...graceEnd },
      formatRecord({ ...named, headers, filters, ...health, ...graceEnd }))
  }
}

export const enable = createStatusCommand('active', 'Activates',
  'This clears its failures. It does not send the events that the webhook missed: replay them.')

export const disable = createStatusCommand('inactive', 'Deactivates',
  'Its pending deliveries become skipped; replay can send them later.')

/** Creates a command that sets a webhook's status. `verb` and `consequence` are for the question. */
function createStatusCommand (status: 'active' | 'inactive', verb: string, consequence: string): Command {
  return {
    args: ['ID'],

    async run (context) {
      const { args: [given = ''] } = context
      const { tenant, id, webhook, text } = await findTarget(context, 'ID', given)
      if (webhook.status === status) throw new CommandError(`ID: the webhook ${id} is already ${status}`)
      await confirm(context, `${verb} ${text}. ${consequence}`)
      const changed = await openStorage(context).webhooks.update(tenant.id, id, { status })
      showResult(context, changed, [`the webhook ${id} is ${status}`])
    }
  }
}

const senderOptions: Options = {
  'secret-keys': secretKeysOption,
  'allow-http': { value: null, about: 'same as delivery.allowHttp of your servers' },
  'allow-networks': { value: 'CIDR,CIDR', about: 'same as delivery.allowNetworks' }
}

export const test: Command = {
  args: ['ID'],
  options: {
    ...senderOptions,
    environment: { value: 'NAME', about: 'same as delivery.environment' },
    ...secretOptions('proxy', 'URL', 'same as delivery.proxy.url')
  },

  async run (context) {
    const { args: [given = ''], io, flags } = context
    const { tenant, id, text } = await findTarget(context, 'ID', given)
    const change = `Sends a test notification to ${text}.`
    // Without a terminal to ask, fails before it opens anything.
    if (io.ask === null && !flags.has('yes')) await confirm(context, change)
    const recruiting = await createSender(context, { tenantId: () => tenant.id })
    try {
      await confirm(context, change)
      const result = await withProgress(io, 'sending', () => recruiting.webhooks.sendTest(tenant.slug, id))
      showResult(context, result, formatRecord(result))
      return result.status === 'delivered' ? 0 : 1
    } finally {
      await recruiting.close()
    }
  }
}

/** Creates an engine without a worker, with the servers' delivery settings. */
async function createSender (
  context: Context,
  settings: { tenantId (slug: string): string, events?: EventCatalogue, maxWebhooksPerTenant?: number }
): Promise<StandaloneRecruiting<EventCatalogue>> {
  // Importing it takes longer than running other commands.
  const { createRecruiting } = await import('../../create-recruiting.js')
  const { flags, io } = context
  const log = ({ err }: { err?: unknown }, message: string): void =>
    writeLines(io.err, [err === undefined ? message : `${message}: ${describeError(err)}`])
  const proxy = await readSecret(context, 'proxy')
  const secretKeys = await readSecretKeys(context)
  try {
    return createRecruiting({
      storage: openStorage(context),
      ...settings,
      logger: { info: log, warn: log, error: log },
      secretKeys,
      delivery: {
        worker: false,
        allowHttp: flags.has('allow-http'),
        allowNetworks: flags.has('allow-networks') ? flags.list('allow-networks') : [],
        ...(flags.has('environment') ? { environment: flags.required('environment') } : {}),
        ...(proxy === null ? {} : { proxy: { url: proxy.text } })
      }
    })
  } catch (error) {
    // The error names the servers' option, not the URL's source.
    const field = 'delivery.proxy.url'
    throw readField(error, 'field') === field
      ? new UsageError(describeError(error).replace(field, String(proxy?.source)))
      : error
  }
}

interface Entry extends ImportWebhookInput {
  tenant: string
  /** The tenant's id, if the servers have the option `tenantId`. */
  tenant_id?: string
  /** The id of the imported endpoint. */
  endpoint?: string
}

export const importWebhooks: Command = {
  args: ['FILE'],
  options: senderOptions,

  async run (context) {
    const { args: [path = ''], io } = context
    const entries = await readEntries(path)
    const tenants = new Set(entries.map(({ tenant }) => tenant))
    const tenantIds = new Map(entries.map(({ tenant, tenant_id: id }) => [tenant, id]))
    const types = [...new Set(entries.flatMap(({ event_types: types }) => types))]
    const recruiting = await createSender(context, {
      tenantId: (slug) => tenantIds.get(slug) ?? slug,
      // The servers define the event types; here, the file does.
      events: Object.fromEntries(types.map((type) => [type, Type.Object({})])),
      maxWebhooksPerTenant: 10_000
    })
    try {
      const count = `${formatCount(entries.length, 'webhook')} of ${formatCount(tenants.size, 'tenant')}`
      await confirm(context, `Imports ${count} with their secrets, for the event types ${types.join(', ')}.`)
      const rows: Array<{ endpoint: string | null, tenant: string, id: number }> = []
      await changeEach(context, 'importing', entries, async (entry, index) => {
        const { tenant, tenant_id: _id, endpoint = null, ...input } = entry
        const name = `webhook ${index + 1}`
        const { id } = await importEntry(name, () => recruiting.webhooks.import(tenant, input))
        const hint = input.legacy === undefined ? hintForSecret(input.secret ?? '') : null
        if (hint !== null) writeLines(io.err, [`FILE: ${name}: check the secret: ${hint}`])
        rows.push({ endpoint, tenant, id })
        return { tenantSlug: tenant, resource: { kind: 'webhook', id } }
      })
      showResult(context, rows, formatTable([['endpoint', 'tenant', 'id'], ...rows.map(Object.values)]))
    } finally {
      await recruiting.close()
    }
  }
}

async function readEntries (path: string): Promise<Entry[]> {
  const entries = await readJsonArray(
    path, 'a JSON array of webhooks, each with tenant, name, target_url, event_types and secret')
  for (const [index, entry] of entries.entries()) {
    const { tenant, event_types: types, endpoint = '', tenant_id: id = '' } = Object(entry) as Record<string, unknown>
    const texts = [tenant, endpoint, id, ...Array.isArray(types) ? types : []]
    if (Array.isArray(types) && texts.every((text) => typeof text === 'string')) continue
    throw new UsageError(
      `FILE: webhook ${index + 1}: expected a string as tenant and an array of strings as event_types`)
  }
  for (const [index, { tenant, tenant_id: id }] of (entries as Entry[]).entries()) {
    const earlier = (entries as Entry[]).findIndex((other) => other.tenant === tenant && other.tenant_id !== id)
    if (earlier === -1 || earlier >= index) continue
    throw new UsageError(
      `FILE: webhook ${index + 1}: expected the tenant_id of webhook ${earlier + 1}, which has the same tenant`)
  }
  return entries as Entry[]
}
