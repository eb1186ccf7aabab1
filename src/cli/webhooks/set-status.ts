import { confirm } from '../ask.js'
import { type Command, RefusedError } from '../command.js'
import { show } from '../output.js'
import { findTarget, openStorage } from './find.js'

/** Makes a command that sets the status of a webhook. `consequence` says what that does. */
export function createStatusCommand (status: 'active' | 'inactive', consequence: string): Command {
  return {
    args: ['ID'],
    options: {},

    async run (context) {
      const { args: [given = ''] } = context
      const { tenantSlug, id, webhook, text } = await findTarget(context, 'ID', given)
      if (webhook.status === status) throw new RefusedError(`ID: the webhook ${id} is ${status} already`)
      await confirm(context, `Makes ${text} ${status}. ${consequence}`)
      const changed = await openStorage(context).webhooks.update(tenantSlug, id, { status })
      show(context, changed, `the webhook ${id} is ${status}\n`)
      return 0
    }
  }
}
