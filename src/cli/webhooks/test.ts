import { createRecruiting } from '../../create-recruiting.js'
import { confirm } from '../ask.js'
import type { Command, Context } from '../command.js'
import { formatRecord, show } from '../output.js'
import { withProgress } from '../progress.js'
import { readSecretKeys, secretKeysOption } from '../secret-keys.js'
import { findTarget, openStorage } from './find.js'

export const command: Command = {
  args: ['ID'],
  options: {
    'secret-keys': secretKeysOption,
    'allow-http': { value: null, about: 'as delivery.allowHttp of your servers' },
    'allow-networks': { value: 'CIDR,CIDR', about: 'as delivery.allowNetworks' },
    proxy: { value: 'URL', about: 'as delivery.proxy.url' }
  },

  async run (context) {
    const { args: [given = ''], io } = context
    const { tenantSlug, id, text } = await findTarget(context, 'ID', given)
    const recruiting = await createSender(context)
    try {
      await confirm(context, `Sends a test notification to ${text}.`)
      const result = await withProgress(io, 'sending', () => recruiting.webhooks.sendTest(tenantSlug, id))
      show(context, result, formatRecord(result))
      return result.status === 'delivered' ? 0 : 1
    } finally {
      await recruiting.close()
    }
  }
}

/** An engine with the settings of the host's servers that a request needs. It delivers nothing but tests. */
async function createSender (context: Context): Promise<ReturnType<typeof createRecruiting>> {
  const { flags } = context
  const proxy = flags.text('proxy')
  return createRecruiting({
    storage: openStorage(context),
    secretKeys: await readSecretKeys(flags),
    delivery: {
      worker: false,
      allowHttp: flags.has('allow-http'),
      allowNetworks: flags.has('allow-networks') ? flags.list('allow-networks') : [],
      ...(proxy === undefined ? {} : { proxy: { url: proxy } })
    }
  })
}
