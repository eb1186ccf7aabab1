import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { WebhookOperations } from '../../webhooks/operations.js'
import { CreateWebhook, CreatedWebhook, UpdateWebhook, Webhook, WebhookQuery, WebhookWithHealth } from '../../webhooks/schemas/webhook.js'
import { readTenantSlug } from '../auth.js'
import { HttpError } from '../wire-errors.js'
import { linkPages } from '../answers/page.js'
import { readPath } from '../input/path.js'
import { found, storableId } from '../answers/resource.js'
import { DataOf, NoContent, PageOf } from '../schemas/answers.js'
import { errorResponses } from '../schemas/errors.js'
import { WebhookParams } from '../schemas/parameters.js'
import { webhookScopes } from './webhook-scopes.js'

const locationHeader = { location: Type.String({ description: 'The path of the webhook', examples: ['/api/v1/public/acme/webhooks/1'] }) }
const tags = ['webhooks']

/** Routes that list, create, read, update and delete webhooks. */
export function webhookRoutes (operations: WebhookOperations): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = { scopes: webhookScopes }
    app.get('/webhooks', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: 'List webhooks',
        description: 'The answer contains no secrets.',
        querystring: WebhookQuery,
        response: { 200: PageOf(Webhook, 'A page of webhooks'), ...errorResponses }
      }
    }, async (request, reply) => {
      return linkPages(request, reply, await operations.list(readTenantSlug(request), request.query))
    })

    app.post('/webhooks', {
      config: { ...config, capabilities: ['write', 'secrets'] },
      schema: {
        operationId: 'createWebhook',
        tags,
        summary: 'Create a webhook',
        description: 'The answer contains the secret that signs the notifications. It is not shown again.',
        body: CreateWebhook,
        response: { 201: DataOf(CreatedWebhook, 'The webhook, with its secret', locationHeader), ...errorResponses }
      }
    }, async (request, reply) => {
      const data = await operations.create(readTenantSlug(request), request.body)
      reply.code(201).header('location', `${readPath(request.originalUrl)}/${data.id}`)
      return { data }
    })

    app.get('/webhooks/:id', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'getWebhook',
        tags,
        summary: 'Get a webhook',
        description: 'The answer does not contain the secret. `health` shows since when the endpoint has been failing, and why the service ' +
          'disabled it.',
        params: WebhookParams,
        response: { 200: DataOf(WebhookWithHealth, 'The webhook, with its health'), ...errorResponses }
      }
    }, async (request) => {
      return { data: found(await operations.find(readTenantSlug(request), storableId(request.params.id))) }
    })

    app.patch('/webhooks/:id', {
      config,
      schema: {
        operationId: 'updateWebhook',
        tags,
        summary: 'Update a webhook',
        description: 'Changes the given fields. Setting the status to `active` re-enables a disabled webhook.',
        params: WebhookParams,
        body: UpdateWebhook,
        response: { 200: DataOf(Webhook, 'The webhook as it is now'), ...errorResponses }
      }
    }, async (request) => {
      const id = storableId(request.params.id)
      return { data: found(await operations.update(readTenantSlug(request), id, request.body)) }
    })

    app.delete('/webhooks/:id', {
      config,
      schema: {
        operationId: 'deleteWebhook',
        tags,
        summary: 'Delete a webhook',
        description: 'Cancels its pending deliveries.',
        params: WebhookParams,
        response: { 204: NoContent('The webhook is gone'), ...errorResponses }
      }
    }, async (request) => {
      const isDeleted = await operations.delete(readTenantSlug(request), storableId(request.params.id))
      if (!isDeleted) throw new HttpError('not_found')
    })
  }
}
