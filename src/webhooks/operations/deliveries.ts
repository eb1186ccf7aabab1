import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import type {
  Delivery,
  DeliveryFilter,
  DeliverySortField,
  DeliveryWithAttempts,
  Tenant,
  WebhookStore
} from '../../ports/index.js'
import { omitUndefined } from '../../shared/fields.js'
import { type Page, readPage } from '../../shared/paging.js'
import type { History } from '../history.js'
import type { DeliveryQuery } from '../schemas/delivery.js'

/** Reads the delivery log of a webhook, and retries its deliveries. */
export interface DeliveryOperations {
  /** Returns `null` if the webhook does not exist. */
  listDeliveries(
    tenant: Pick<Tenant, 'id'>,
    webhookId: number,
    query: Static<typeof DeliveryQuery>
  ): Promise<Page<Delivery> | null>
  findDelivery(tenant: Pick<Tenant, 'id'>, webhookId: number, id: number): Promise<DeliveryWithAttempts | null>
  retryDelivery(tenant: Pick<Tenant, 'id'>, webhookId: number, id: number): Promise<Delivery | null>
}

interface Dependencies {
  webhooks: WebhookStore
  history: History
}

/** Counting more would take too long. */
const maxLogTotal = 10_000

export function createDeliveryOperations ({ webhooks, history }: Dependencies): DeliveryOperations {
  return {
    async listDeliveries (tenant, webhookId, query) {
      const page = await readPage<Delivery, DeliveryFilter, DeliverySortField>({
        list: (page) => history.list(tenant.id, webhookId, page),
        count: (filter, options) => history.count(tenant.id, webhookId, filter, options),
        maxTotal: maxLogTotal
      }, query, omitUndefined({
        status: query['filter[status]'],
        eventType: query['filter[event_type]'],
        eventId: query['filter[event_id]']
      }))
      return page.meta.total > 0 || await webhooks.find(tenant.id, webhookId) !== null ? page : null
    },

    findDelivery: (tenant, webhookId, id) => history.find(tenant.id, webhookId, id),

    async retryDelivery (tenant, webhookId, id) {
      const retried = await history.retry(tenant.id, webhookId, id)
      if (retried === null && (await history.find(tenant.id, webhookId, id)) !== null) {
        throw new Refusal('', 'the webhook is not active')
      }
      return retried
    }
  }
}
