import type { DeliveryStore } from '../../ports/index.js'
import type { WebhookData } from '../webhook-data.js'
import { createAttempts } from './attempts.js'
import { createEvents } from './events.js'
import { createLog } from './log.js'
import { erase, prune } from './prune.js'

export function createDeliveryStore (data: WebhookData): DeliveryStore {
  return {
    ...createEvents(data),
    ...createAttempts(data),
    ...createLog(data),
    prune: async (options) => prune(data, options),
    erase: async (tenant, subject, transaction) => erase(data, tenant, subject, transaction)
  }
}
