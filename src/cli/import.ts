import { readFile } from 'node:fs/promises'
import { isRecruitingApiError } from '../errors.js'
import type { ImportWebhookInput } from '../webhooks/by-code/recruiting-webhooks.js'
import { type Command, RefusedError, UsageError } from './command.js'
import { describeError } from './database.js'
import { confirm, formatCount, formatTable, showResult, withProgress } from './terminal.js'
import { createSender, senderOptions } from './webhooks.js'
import { Type } from '../shared/typebox.js'

/** A webhook of the file. */
interface Entry extends ImportWebhookInput {
  /** The slug. */
  tenant: string
  /** The id of the tenant, if the servers have the option `tenantId`. */
  tenant_id?: string
  /** The id of the endpoint where it comes from. */
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
      // The servers know which events exist; here they are those of the file.
      events: Object.fromEntries(types.map((type) => [type, Type.Object({})])),
      maxWebhooksPerTenant: 10_000
    })
    try {
      await confirm(
        context,
        `Imports ${formatCount(entries.length, 'webhook')} of ${formatCount(tenants.size, 'tenant')} with their secrets, for the event types ${types.join(', ')}.`
      )
      const imported = await withProgress(io, 'importing', async (report) => {
        const rows = []
        for (const [index, { tenant, tenant_id: _id, endpoint = null, ...input }] of entries.entries()) {
          const { id } = await recruiting.webhooks.import(tenant, input).catch((error: unknown) => refuse(error, index))
          rows.push({ endpoint, tenant, id })
          context.audit.rowCount = rows.length
          await context.audit.write({ tenantSlug: tenant, resource: { kind: 'webhook', id } })
          report(`${rows.length} of ${entries.length}`)
        }
        return rows
      })
      showResult(context, imported, formatTable([['endpoint', 'tenant', 'id'], ...imported.map(Object.values)]))
      return 0
    } finally {
      await recruiting.close()
    }
  }
}

async function readEntries (path: string): Promise<Entry[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`FILE: the file cannot be read (${error.code})`)
  })
  const entries = parse(text)
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new UsageError(
      'FILE: expected a JSON array of webhooks, each with tenant, name, target_url, event_types and secret'
    )
  }
  for (const [index, entry] of entries.entries()) {
    const { tenant, event_types: types, endpoint = '', tenant_id: id = '' } = Object(entry) as Record<string, unknown>
    const isComplete =
      [tenant, endpoint, id].every((one) => typeof one === 'string') &&
      Array.isArray(types) &&
      types.every((type) => typeof type === 'string')
    if (!isComplete) {
      throw new UsageError(
        `FILE: webhook ${index + 1}: expected a string as tenant and an array of strings as event_types`
      )
    }
  }
  for (const [index, { tenant, tenant_id: id }] of (entries as Entry[]).entries()) {
    const earlier = (entries as Entry[]).findIndex((other) => other.tenant === tenant && other.tenant_id !== id)
    if (earlier !== -1 && earlier < index) {
      throw new UsageError(
        `FILE: webhook ${index + 1}: expected the tenant_id of webhook ${earlier + 1}, which has the same tenant`
      )
    }
  }
  return entries
}

/** `undefined` if it is not JSON: the error would quote it, secrets included. */
function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refuse (error: unknown, index: number): never {
  if (!isRecruitingApiError(error)) throw error
  throw new RefusedError(
    `FILE: webhook ${index + 1}: ${describeError(error)}. Those before it were imported: fix it, then run the command again`
  )
}
