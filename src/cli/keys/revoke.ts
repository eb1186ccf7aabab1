import { confirm } from '../ask.js'
import { type Command, RefusedError } from '../command.js'
import { show } from '../output.js'
import { openKeys } from './options.js'

export const command: Command = {
  args: ['ID'],
  options: {},

  async run (context) {
    const { args: [id = ''] } = context
    const keys = openKeys(context)
    const key = await keys.find(id)
    if (key === null) throw new RefusedError(`${id}: there is no such key`)
    if (key.revokedAt !== null) throw new RefusedError(`${id}: the key was revoked before, at ${key.revokedAt}`)
    await confirm(context, `Ends the key ${id} (${key.name ?? 'without a name'}) of the tenant ${key.tenantSlug} at once.`)
    await keys.revoke(id)
    show(context, await keys.find(id), `revoked ${id}\n`)
    return 0
  }
}
