import { heldError } from '../../core/shared/errors.js'
import type { Hold, HoldStore } from '../../core/ports/index.js'
import { formatDateTime } from './checks.js'
import { deleteWebhook, listWebhooks, notify, stopDeliveries, type WebhookData } from './webhook-data.js'

/** Memory is never a copy, so only the environment counts. */
export function findHold (data: WebhookData, environment: string | null): Hold | null {
  if (environment === null || data.environment === null || environment === data.environment) return null
  const since = data.otherEnvironments.get(environment) ?? formatDateTime(data.now())
  data.otherEnvironments.set(environment, since)
  return { reason: 'environment', since }
}

/** The storage belongs to the first environment. Throws `held` for others. */
export function enterEnvironment (data: WebhookData, environment: string | null): void {
  const hold = findHold(data, environment)
  if (hold !== null) throw heldError(hold.reason)
  data.environment ??= environment
}

export function createHoldStore (data: WebhookData): HoldStore {
  return {
    async find (environment) {
      return findHold(data, environment)
    },

    async adopt ({ environment, pending, keepWebhooks = false }) {
      const hold = findHold(data, environment)
      if (hold === null) return null
      const adopted = { reason: hold.reason, pending: data.pending.stats(data.now()).pending }
      if (pending === 'discard') {
        for (const webhook of listWebhooks(data)) {
          stopDeliveries(data, webhook, 'skipped')
          if (webhook.subscription !== null) deleteWebhook(data, webhook)
          if (keepWebhooks || webhook.status === 'inactive') continue
          webhook.status = 'inactive'
          webhook.updatedAt = data.now()
        }
        data.notices.clear()
      }
      data.environment = environment
      data.otherEnvironments.clear()
      notify(data)
      return adopted
    }
  }
}
