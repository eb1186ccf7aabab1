import { omitUndefined } from '../../shared/omit-undefined.js'
import { type Command, RefusedError } from '../command.js'
import { outOption } from '../secret-output.js'
import { createKey } from './new-key.js'
import { openKeys, prefixOption } from './options.js'

export const command: Command = {
  args: ['ID'],
  options: {
    'overlap-seconds': { value: 'SECONDS', about: 'how long the old key works; the default is 86400, a day' },
    prefix: { ...prefixOption, about: 'the prefix of the new key, because that of the old one is not stored; the default is rk' },
    out: outOption
  },

  async run (context) {
    const { args: [id = ''], flags } = context
    const keys = openKeys(context)
    const overlap = omitUndefined({ overlapSeconds: flags.integer('overlap-seconds') })
    const old = await keys.find(id)
    if (old === null) throw new RefusedError(`${id}: there is no such key`)
    const overlapSeconds = overlap.overlapSeconds ?? 86_400
    const prefix = flags.text('prefix') ?? 'rk'
    const change = `Replaces the key ${id} of the tenant ${old.tenantSlug}, which ends in ${overlapSeconds} seconds, with a key that begins with ${prefix}_.`
    return createKey(context, change, (transaction) => keys.rotate(id, overlap, { transaction }))
  }
}
