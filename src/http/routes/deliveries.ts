import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from '@sinclair/typebox'
import type { WebhookOperations } from '../../webhooks/operations.js'
import { Delivery, DeliveryForSessions, DeliveryQuery, DeliveryWithAttempts } from '../../webhooks/schemas/delivery.js'
import { isCapable, readTenant } from '../request.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { DataOf, DeliveryParams, LogPageOf, NoBody, WebhookParams } from '../schemas/parameters.js'
import { errorResponses } from '../schemas/errors.js'
import { webhookScopes } from '../../keys/api-key.js'

const tags = ['deliveries']

/** Routes that read and retry the deliveries of a webhook. With sessions of the portal, some callers see no bodies. */
export function deliveryRoutes (
  operations: WebhookOperations,
  { hasSessions }: { hasSessions: boolean }
): FastifyPluginAsyncTypebox {
  return async (app) => {
    const shown = hasSessions ? DeliveryForSessions : DeliveryWithAttempts
    const config = { scopes: webhookScopes }
    app.get(
      '/webhooks/:id/deliveries',
      {
        exposeHeadRoute: true,
        config: { ...config, resource: 'webhook' },
        schema: {
          operationId: 'listWebhookDeliveries',
          tags,
          summary: 'List the deliveries of a webhook',
          description:
            'Returns the delivery log, newest first unless `sort` is given. It does not contain test notifications.',
          params: WebhookParams,
          querystring: DeliveryQuery,
          response: { 200: LogPageOf(Delivery, 'A page of deliveries'), ...errorResponses }
        }
      },
      async (request, reply) => {
        const id = storableId(request.params.id)
        return linkPages(request, reply, found(await operations.listDeliveries(readTenant(request), id, request.query)))
      }
    )

    app.get(
      '/webhooks/:id/deliveries/:delivery_id',
      {
        exposeHeadRoute: true,
        config: { ...config, resource: 'delivery' },
        schema: {
          operationId: 'getWebhookDelivery',
          tags,
          summary: 'Get a delivery with its body and its attempts',
          description: "Attempts show the beginning of your endpoint's response only if the vendor keeps it.",
          params: DeliveryParams,
          response: { 200: DataOf(shown, 'The delivery'), ...errorResponses }
        }
      },
      async (request) => {
        const { id, delivery_id: deliveryId } = request.params
        const data = found(await operations.findDelivery(readTenant(request), storableId(id), storableId(deliveryId)))
        return { data: isCapable(request, 'bodies') ? data : withoutBodies(data) }
      }
    )

    app.post(
      '/webhooks/:id/deliveries/:delivery_id/retry',
      {
        config: { ...config, capabilities: ['replay'], resource: 'delivery' },
        schema: {
          operationId: 'retryWebhookDelivery',
          tags,
          summary: 'Retry a delivery',
          description:
            'A delivery that ended is sent again as a new delivery. A pending one is due now, and uses an attempt of ' +
            'its schedule; one in flight does not change.',
          params: DeliveryParams,
          body: NoBody,
          response: { 202: DataOf(Delivery, 'The delivery that will be attempted'), ...errorResponses }
        }
      },
      async (request, reply) => {
        const { id, delivery_id: deliveryId } = request.params
        const data = found(await operations.retryDelivery(readTenant(request), storableId(id), storableId(deliveryId)))
        reply.code(202)
        return { data }
      }
    )
  }
}

function withoutBodies (delivery: DeliveryWithAttempts): Static<typeof DeliveryForSessions> {
  return {
    ...delivery,
    body: null,
    attempts: delivery.attempts.map((attempt) => ({ ...attempt, response_excerpt: null }))
  }
}
