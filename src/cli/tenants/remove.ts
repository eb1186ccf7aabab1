import { postgresStorage } from '../../postgres/index.js'
import { createSecretBox } from '../../webhooks/secrets/secret-box.js'
import { createTenantOperations } from '../../webhooks/tenants.js'
import { confirm } from '../ask.js'
import type { Command } from '../command.js'
import { show } from '../output.js'
import { withProgress } from '../progress.js'
import { describeTenant } from './describe-tenant.js'

export const command: Command = {
  args: ['TENANT'],
  options: {},

  async run (context) {
    const { args: [tenantSlug = ''], io, pool, schema } = context
    const { removeTenant } = createTenantOperations(postgresStorage(pool, { schema }).webhooks, createSecretBox([]))
    await confirm(context, `Deletes the tenant ${tenantSlug} for good: ${await describeTenant(context, 'TENANT', tenantSlug)}.`)
    await withProgress(io, 'deleting', () => removeTenant(tenantSlug))
    show(context, { removed: tenantSlug }, `removed ${tenantSlug}\n`)
    return 0
  }
}
