import { type Command, type Context, CommandError } from './command.js'
import type { SubscriptionStore } from '../../core/ports/index.js'
import { openStorage, readTenant, tenantOption } from './find.js'
import { confirm, formatCount, formatRecords, showResult } from './terminal.js'

const principalOption = { value: 'ID', about: 'the id of the API key, or of the access that your key lookup returned' }

function openSubscriptions (context: Context): { tenant: string, subscriptions: SubscriptionStore } {
  const { subscriptions } = openStorage(context)
  const tenant = readTenant('--tenant', context.flags.text('tenant') ?? '')
  context.audit.tenantSlug = tenant
  if (subscriptions === undefined) throw new CommandError('the storage has no subscriptions')
  return { tenant, subscriptions }
}

/** Returns the tenant's subscriptions: each without its address, which can contain a token. */
async function read (
  { tenant, subscriptions }: ReturnType<typeof openSubscriptions>, principal: string | undefined
) {
  const query = {
    filter: principal === undefined ? {} : { principal }, sort: [{ field: 'id', direction: 'asc' }] as const, offset: 0
  }
  const found = await subscriptions.list(tenant, { ...query, limit: 200 })
  return found.map(({ id, principal: key, event_type: event, target_url: url, ...times }) => {
    const { last_delivered_at: delivered, expires_at: until } = times
    return { id, key, event, callback: new URL(url).host, delivered, until }
  })
}

const columns = {
  id: 'id', key: 'key', event: 'event', callback: 'callback', delivered: 'delivered', until: 'until'
} as const

export const list: Command = {
  options: { tenant: tenantOption, principal: principalOption },

  async run (context) {
    const found = await read(openSubscriptions(context), context.flags.text('principal'))
    showResult(context, found, formatRecords(found, columns, 'no subscriptions'))
  }
}

export const end: Command = {
  options: {
    tenant: tenantOption,
    id: { value: 'ID', about: 'the id of the subscription' },
    principal: { ...principalOption, about: `${principalOption.about}: ends all of its subscriptions` }
  },

  async run (context) {
    const { flags } = context
    const opened = openSubscriptions(context)
    const [id, principal] = [flags.text('id'), flags.text('principal')]
    const which = id !== undefined ? { id } : principal !== undefined ? { principal } : null
    if (which === null || (id !== undefined && principal !== undefined)) {
      throw new CommandError('add either --id ID or --principal ID')
    }
    const count = (await read(opened, principal)).filter((one) => id === undefined || one.id === id).length
    if (count === 0) throw new CommandError('the tenant has no such subscription')
    const what = formatCount(count, 'subscription')
    await confirm(context, `Ends ${what} of the tenant ${opened.tenant}. The agents are not told.`)
    const ended = await opened.subscriptions.end(opened.tenant, which, 'disconnected')
    showResult(context, { ended: ended.length }, [`ended ${formatCount(ended.length, 'subscription')}`])
  }
}
