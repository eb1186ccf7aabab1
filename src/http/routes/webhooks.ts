import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { webhookScopes } from '../../keys/api-key.js'
import type { WebhookOperations } from '../../webhooks/operations.js'
import {
  CreatedWebhook,
  CreateWebhook,
  UpdateWebhook,
  Webhook,
  WebhookQuery,
  WebhookWithHealth
} from '../../webhooks/schemas/webhook.js'
import { readAddress } from '../address.js'
import { isCapable, readTenant } from '../request.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { errorResponses } from '../schemas/errors.js'
import { DataOf, NoContent, PageOf, WebhookParams } from '../schemas/parameters.js'
import { HttpError } from '../wire-errors.js'
import { Type } from '../../shared/typebox.js'

const locationHeader = {
  location: Type.String({
    description: 'The address of the webhook: a path, or a URL if the vendor sets one',
    examples: ['/api/v1/public/acme/webhooks/1']
  })
}
const tags = ['webhooks']

/** Routes that list, create, read, update and delete webhooks. */
export function webhookRoutes (
  operations: WebhookOperations,
  { hasSessions }: { hasSessions: boolean }
): FastifyPluginAsyncTypebox {
  return async (app) => {
    const sessionRule = hasSessions
      ? ' Sessions of the portal can change `target_url` and `filters` only with the capability `bodies`.'
      : ''
    const config = { scopes: webhookScopes, resource: 'webhook' }
    app.get(
      '/webhooks',
      {
        exposeHeadRoute: true,
        config,
        schema: {
          operationId: 'listWebhooks',
          tags,
          summary: 'List webhooks',
          description: 'The response contains no secrets.',
          querystring: WebhookQuery,
          response: { 200: PageOf(Webhook, 'A page of webhooks'), ...errorResponses }
        }
      },
      async (request, reply) => {
        return linkPages(request, reply, await operations.list(readTenant(request), request.query))
      }
    )

    app.post(
      '/webhooks',
      {
        config: { ...config, capabilities: ['write', 'secrets'] },
        schema: {
          operationId: 'createWebhook',
          tags,
          summary: 'Create a webhook',
          description: 'The response contains the secret that signs the notifications. It is not shown again.',
          body: CreateWebhook,
          response: { 201: DataOf(CreatedWebhook, 'The webhook, with its secret', locationHeader), ...errorResponses }
        }
      },
      async (request, reply) => {
        // A session without `bodies` must not probe them with filters.
        if (request.body.filters != null && !isCapable(request, 'bodies')) throw new HttpError('forbidden')
        const data = await operations.create(readTenant(request), request.body)
        reply.code(201).header('location', `${readAddress(request)}/${data.id}`)
        return { data }
      }
    )

    app.get(
      '/webhooks/:id',
      {
        exposeHeadRoute: true,
        config,
        schema: {
          operationId: 'getWebhook',
          tags,
          summary: 'Get a webhook',
          description:
            'The response does not contain the secret. `health` shows since when the endpoint has been failing, and why the service ' +
            'disabled it. `previous_secret_expires_at` is the end of the grace period of a rotation.',
          params: WebhookParams,
          response: {
            200: DataOf(WebhookWithHealth, 'The webhook, with its health and the end of its grace period'),
            ...errorResponses
          }
        }
      },
      async (request) => {
        return { data: found(await operations.find(readTenant(request), storableId(request.params.id))) }
      }
    )

    app.patch(
      '/webhooks/:id',
      {
        config,
        schema: {
          operationId: 'updateWebhook',
          tags,
          summary: 'Update a webhook',
          description: `Changes the given fields. Setting the status to \`active\` re-enables a disabled webhook.${sessionRule}`,
          params: WebhookParams,
          body: UpdateWebhook,
          response: { 200: DataOf(Webhook, 'The updated webhook'), ...errorResponses }
        }
      },
      async (request) => {
        const { target_url: target, filters } = request.body
        // A session without `bodies` must not redirect them to its own address, or probe them with filters.
        if ((target !== undefined || filters !== undefined) && !isCapable(request, 'bodies')) {
          throw new HttpError('forbidden')
        }
        const id = storableId(request.params.id)
        return { data: found(await operations.update(readTenant(request), id, request.body)) }
      }
    )

    app.delete(
      '/webhooks/:id',
      {
        config,
        schema: {
          operationId: 'deleteWebhook',
          tags,
          summary: 'Delete a webhook',
          description: 'Cancels its pending deliveries.',
          params: WebhookParams,
          response: { 204: NoContent('The webhook is gone'), ...errorResponses }
        }
      },
      async (request) => {
        const isDeleted = await operations.delete(readTenant(request), storableId(request.params.id))
        if (!isDeleted) throw new HttpError('not_found')
      }
    )
  }
}
