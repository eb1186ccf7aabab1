import type { Command } from '../command.js'
import { formatRecord, show } from '../output.js'
import { findTarget, openStorage } from './find.js'

export const command: Command = {
  args: ['ID'],
  options: {},

  async run (context) {
    const { args: [given = ''] } = context
    const { tenantSlug, id, webhook } = await findTarget(context, 'ID', given)
    const health = await openStorage(context).webhooks.findHealth(tenantSlug, id)
    show(context, { tenant_slug: tenantSlug, ...webhook, health }, formatRecord({ tenant_slug: tenantSlug, ...webhook, ...health }))
    return 0
  }
}
