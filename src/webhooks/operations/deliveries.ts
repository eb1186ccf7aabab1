import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import type { Delivery, DeliveryFilter, DeliverySortField, DeliveryStore, DeliveryWithAttempts, WebhookStore } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { type Page, readPage } from '../../shared/paging.js'
import type { DeliveryQuery } from '../schemas/delivery.js'

/** Reads the delivery log of a webhook, and retries its deliveries. */
export interface DeliveryOperations {
  /** Returns `null` if the webhook does not exist. */
  listDeliveries (tenantSlug: string, webhookId: number, query: Static<typeof DeliveryQuery>): Promise<Page<Delivery> | null>
  findDelivery (tenantSlug: string, webhookId: number, id: number): Promise<DeliveryWithAttempts | null>
  retryDelivery (tenantSlug: string, webhookId: number, id: number): Promise<Delivery | null>
}

interface Dependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
}

/** Creates the operations on deliveries. */
export function createDeliveryOperations ({ webhooks, deliveries }: Dependencies): DeliveryOperations {
  return {
    async listDeliveries (tenantSlug, webhookId, query) {
      const page = await readPage<Delivery, DeliveryFilter, DeliverySortField>({
        list: (page) => deliveries.list(tenantSlug, webhookId, page),
        count: (filter) => deliveries.count(tenantSlug, webhookId, filter)
      }, query, omitUndefined({
        status: query['filter[status]'],
        eventType: query['filter[event_type]'],
        eventId: query['filter[event_id]']
      }))
      return page.meta.total > 0 || await webhooks.find(tenantSlug, webhookId) !== null ? page : null
    },

    findDelivery: (tenantSlug, webhookId, id) => deliveries.find(tenantSlug, webhookId, id),

    async retryDelivery (tenantSlug, webhookId, id) {
      const retried = await deliveries.retry(tenantSlug, webhookId, id)
      if (retried === null && await deliveries.find(tenantSlug, webhookId, id) !== null) throw new Refusal('', 'the webhook is not active')
      return retried
    }
  }
}
