import { postgresStorage } from '../../postgres/index.js'
import { resealSecrets } from '../../webhooks/secrets/reseal.js'
import { createSecretBox } from '../../webhooks/secrets/secret-box.js'
import { confirm } from '../ask.js'
import type { Command } from '../command.js'
import { show } from '../output.js'
import { withProgress } from '../progress.js'
import { readSecretKeys, secretKeysOption } from '../secret-keys.js'

export const command: Command = {
  args: [],
  options: { 'secret-keys': { ...secretKeysOption, isRequired: true } },

  async run (context) {
    const { flags, io, pool, schema } = context
    const box = createSecretBox(await readSecretKeys(flags))
    await confirm(context, `Encrypts every webhook secret with the first key of ${flags.required('secret-keys')}. Your servers must know that key already.`)
    const { webhooks } = postgresStorage(pool, { schema })
    const resealed = await withProgress(io, 'encrypting', () => resealSecrets(webhooks, box))
    show(context, { resealed }, `encrypted ${resealed} secrets\n`)
    return 0
  }
}
