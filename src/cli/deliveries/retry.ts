import { confirm } from '../ask.js'
import { type Command, RefusedError } from '../command.js'
import { formatRecord, show } from '../output.js'
import { openStorage, webhookOption } from '../webhooks/find.js'
import { findDelivery } from './find.js'

export const command: Command = {
  args: ['ID'],
  options: { webhook: webhookOption },

  async run (context) {
    const { target: { tenantSlug, id, text }, delivery } = await findDelivery(context)
    await confirm(context, `Sends the event ${delivery.event_id} (${delivery.event_type}) to ${text}: ${delivery.status === 'pending' ? 'now' : 'again'}.`)
    const retried = await openStorage(context).deliveries.retry(tenantSlug, id, delivery.id)
    if (retried === null) throw new RefusedError(`--webhook: the webhook ${id} is not active: run fastify-recruiting-api webhooks enable ${id}`)
    show(context, retried, formatRecord(retried))
    return 0
  }
}
