import type { HoldStore } from '../ports/index.js'
import { notify, stopDeliveries, type WebhookData } from './webhook-data.js'

/** Memory is never a copy, so only the environment counts. */
export function createHoldStore (data: WebhookData): HoldStore {
  return {
    async find (environment) {
      return data.home.findHold(environment)
    },

    async adopt ({ environment, pending, keepWebhooks = false }) {
      const hold = data.home.findHold(environment)
      if (hold === null) return null
      const adopted = { reason: hold.reason, pending: data.pending.stats(data.now()).pending }
      if (pending === 'discard') {
        for (const webhook of [...data.tenants.values()].flatMap(({ webhooks }) => [...webhooks.values()])) {
          stopDeliveries(data, webhook, 'skipped')
          if (keepWebhooks || webhook.status === 'inactive') continue
          webhook.status = 'inactive'
          webhook.updatedAt = data.now()
        }
        data.notices.clear()
      }
      data.home.move(environment)
      notify(data)
      return adopted
    }
  }
}
