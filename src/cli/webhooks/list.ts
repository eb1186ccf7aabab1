import type { Webhook } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readTenant } from '../tenants/read-tenant.js'
import type { Command } from '../command.js'
import { formatTable, show } from '../output.js'
import { openStorage } from './find.js'

const batchSize = 200
const statuses = ['active', 'inactive', 'disabled'] as const

export const command: Command = {
  args: [],
  options: {
    tenant: { value: 'SLUG', about: 'the tenant of the webhooks', isRequired: true },
    status: { value: 'STATUS', about: `${statuses.join(', ')}; the default is all of them` }
  },

  async run (context) {
    const { flags } = context
    const tenantSlug = readTenant('--tenant', flags.required('tenant'))
    const filter = omitUndefined({ status: flags.oneOf('status', statuses) })
    const { webhooks } = openStorage(context)
    const found: Webhook[] = []
    for (;;) {
      const batch = await webhooks.list(tenantSlug, { filter, sort: [{ field: 'id', direction: 'asc' }], offset: found.length, limit: batchSize })
      found.push(...batch)
      if (batch.length < batchSize) break
    }
    const rows = found.map(({ id, status, name, target_url: url, event_types: types }) => [id, status, name, url, types])
    show(context, found, rows.length === 0 ? 'no webhooks\n' : formatTable([['id', 'status', 'name', 'address', 'event types'], ...rows]))
    return 0
  }
}
