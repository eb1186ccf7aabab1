import type { Command } from '../command.js'
import { formatTable, show } from '../output.js'
import { openStorage } from './find.js'

const usualLimit = 100
const maxPending = 1000

export const command: Command = {
  args: [],
  options: { limit: { value: 'COUNT', about: `shows at most so many, 1 to 1000; the default is ${usualLimit}` } },

  async run (context) {
    const limit = context.flags.integer('limit', 1, 1000) ?? usualLimit
    const failing = await openStorage(context).webhooks.listFailing({ limit, maxPending })
    const rows = failing.map(({ tenantSlug, webhook, health, lastError, lastResponseStatus, pending }) => [
      webhook.id, tenantSlug, webhook.status, health.failing_since, health.failed_deliveries, lastError, lastResponseStatus, pending, webhook.target_url
    ])
    const header = ['id', 'tenant', 'status', 'failing since', 'failed', 'last error', 'response', 'waiting', 'address']
    show(context, failing, rows.length === 0 ? 'no webhook is failing or disabled\n' : formatTable([header, ...rows]))
    return 0
  }
}
