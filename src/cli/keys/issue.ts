import type { NewApiKey } from '../../postgres/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import type { Command } from '../command.js'
import { outOption } from '../secret-output.js'
import { createKey } from './new-key.js'
import { openKeys, prefixOption } from './options.js'

export const command: Command = {
  args: [],
  options: {
    tenant: { value: 'SLUG', about: 'the tenant of the key', isRequired: true },
    scopes: { value: 'A,B', about: 'for example candidates:read,jobs:read', isRequired: true },
    name: { value: 'NAME', about: 'what the key is for' },
    'expires-at': { value: 'DATE', about: 'when the key expires, such as 2030-01-01T00:00:00Z; the default is never' },
    'created-by': { value: 'NAME', about: 'who issues the key' },
    prefix: prefixOption,
    out: outOption
  },

  async run (context) {
    const { flags } = context
    const keys = openKeys(context)
    const input: NewApiKey = {
      tenantSlug: flags.required('tenant'),
      scopes: flags.list('scopes'),
      ...omitUndefined({ name: flags.text('name'), expiresAt: flags.text('expires-at'), createdBy: flags.text('created-by') })
    }
    const change = `Issues a key for the tenant ${input.tenantSlug} with the scopes ${input.scopes.join(', ')}.`
    return createKey(context, change, (transaction) => keys.issue(input, { transaction }))
  }
}
