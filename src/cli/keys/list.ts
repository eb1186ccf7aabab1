import type { StoredApiKey } from '../../postgres/index.js'
import type { Command } from '../command.js'
import { formatTable, show } from '../output.js'
import { openKeys } from './options.js'

export const command: Command = {
  args: [],
  options: { tenant: { value: 'SLUG', about: 'the tenant of the keys', isRequired: true } },

  async run (context) {
    const { flags, io } = context
    const keys = await openKeys(context).list({ tenantSlug: flags.required('tenant') })
    const rows = keys.map((key) => [key.id, key.start, stateOf(key, io.now()), key.name, key.scopes, key.lastUsedAt, key.expiresAt])
    show(context, keys, keys.length === 0 ? 'no keys\n' : formatTable([['id', 'start', 'state', 'name', 'scopes', 'last used', 'expires'], ...rows]))
    return 0
  }
}

function stateOf ({ revokedAt, expiresAt }: StoredApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}
