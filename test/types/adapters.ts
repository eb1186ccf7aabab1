import { type Delivery, type DeliveryWithAttempts, type RecruitingStorage, type Webhook, Webhook as WebhookSchema } from '../../src/index.js'

/* Compiled by `npm run types`: what an adapter's author has to name can be named. */

export async function names (
  { webhooks, deliveries }: RecruitingStorage
): Promise<[Webhook | null, Delivery[], DeliveryWithAttempts | null]> {
  const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 1 }
  return [
    await webhooks.find('acme', 1), await deliveries.list('acme', 1, page), await deliveries.find('acme', 1, 1)
  ]
}

/** The schema of the same name is still there. */
export const title: unknown = WebhookSchema.title
