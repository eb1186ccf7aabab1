import { type Delivery, type DeliveryWithAttempts, type RecruitingStorage, type Webhook, Webhook as WebhookSchema } from '../../src/index.js'

/* Compiled by `npm run types`: adapters can import all types that they need. */

export async function names (
  { webhooks, deliveries }: RecruitingStorage
): Promise<[Webhook | null, Delivery[], DeliveryWithAttempts | null]> {
  const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 1 }
  return [
    await webhooks.find('acme', 1), await deliveries.list('acme', 1, page), await deliveries.find('acme', 1, 1)
  ]
}

/** A schema with the same name is exported too. */
export const title: unknown = WebhookSchema.title
