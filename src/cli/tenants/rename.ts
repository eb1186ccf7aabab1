import { postgresStorage } from '../../postgres/index.js'
import { createSecretBox } from '../../webhooks/secrets/secret-box.js'
import { createTenantOperations } from '../../webhooks/tenants.js'
import { confirm } from '../ask.js'
import type { Command } from '../command.js'
import { show } from '../output.js'
import { readSecretKeys, secretKeysOption } from '../secret-keys.js'
import { describeTenant } from './describe-tenant.js'

export const command: Command = {
  args: ['FROM', 'TO'],
  options: { 'secret-keys': secretKeysOption },

  async run (context) {
    const { args: [from = '', to = ''], flags, pool, schema } = context
    const box = createSecretBox(await readSecretKeys(flags))
    const { renameTenant } = createTenantOperations(postgresStorage(pool, { schema }).webhooks, box)
    await confirm(context, `Renames the tenant ${from} to ${to}: ${await describeTenant(context, 'FROM', from)}. Candidates and jobs are yours to rename.`)
    const { webhooks } = await renameTenant(from, to)
    show(context, { from, to, webhooks }, `renamed ${from} to ${to}, with ${webhooks} webhooks\n`)
    return 0
  }
}
