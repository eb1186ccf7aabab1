import { type Command, type Context, CommandError } from './command.js'
import type { SubscriptionStore } from '../../core/ports/index.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { subscriptionLimits } from '../../core/webhooks/subscriptions.js'
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

const columns = {
  id: 'id', key: 'key', event: 'event', callback: 'callback', delivered: 'delivered', error: 'error', until: 'until'
} as const

export const list: Command = {
  options: { tenant: tenantOption, principal: principalOption },

  async run (context) {
    const { tenant, subscriptions } = openSubscriptions(context)
    const filter = omitUndefined({ principal: context.flags.text('principal') })
    const found = await subscriptions.list(tenant, {
      filter, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: subscriptionLimits.perTenant
    })
    const shown = found.map(({ id, principal: key, event_type: event, target_url: url, ...times }) => {
      const { last_delivered_at: delivered, last_error: error, expires_at: until } = times
      // An address can contain a token.
      return { id, key, event, callback: new URL(url).host, delivered, error, until }
    })
    showResult(context, shown, formatRecords(shown, columns, 'no subscriptions'))
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
    const { tenant, subscriptions } = openSubscriptions(context)
    const [id, principal] = [flags.text('id'), flags.text('principal')]
    const which = id !== undefined ? { id } : principal !== undefined ? { principal } : null
    if (which === null || (id !== undefined && principal !== undefined)) {
      throw new CommandError('add either --id ID or --principal ID')
    }
    const count = 'id' in which
      ? Number(await subscriptions.find(tenant, which.id) !== null)
      : await subscriptions.count(tenant, which)
    if (count === 0) throw new CommandError('the tenant has no such subscription')
    const what = formatCount(count, 'subscription')
    await confirm(context, `Ends ${what} of the tenant ${tenant}. Their callbacks get no notice.`)
    const ended = await subscriptions.end(tenant, which, 'disconnected')
    showResult(context, { ended: ended.length }, [`ended ${formatCount(ended.length, 'subscription')}`])
  }
}
