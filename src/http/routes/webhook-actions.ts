import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { WebhookOperations } from '../../webhooks/operations.js'
import {
  DispatchTest,
  Replay,
  ReplayResult,
  RotateSecret,
  RotatedWebhook,
  TestResult
} from '../../webhooks/schemas/webhook.js'
import { readTenant } from '../request.js'
import { found, storableId } from '../responses/rows.js'
import { DataOf, WebhookParams } from '../schemas/parameters.js'
import { errorResponses } from '../schemas/errors.js'
import { webhookScopes } from '../../keys/api-key.js'

const tags = ['webhooks']

/** Routes that rotate a secret, send a test notification and replay events. */
export function webhookActionRoutes (operations: WebhookOperations): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/webhooks/:id/rotate_secret', {
      config: { scopes: webhookScopes, capabilities: ['write', 'secrets'], resource: 'webhook' },
      schema: {
        operationId: 'rotateWebhookSecret',
        tags,
        summary: 'Rotate the secret of a webhook',
        description: 'During the grace period every delivery is signed with both secrets.',
        params: WebhookParams,
        body: RotateSecret,
        response: { 200: DataOf(RotatedWebhook, 'The webhook, with its new secret'), ...errorResponses }
      }
    }, async (request) => {
      const id = storableId(request.params.id)
      return { data: found(await operations.rotateSecret(readTenant(request), id, request.body)) }
    })

    app.post(
      '/webhooks/:id/dispatch_test',
      {
        config: { scopes: webhookScopes, capabilities: ['test'], resource: 'webhook' },
        schema: {
          operationId: 'dispatchWebhookTest',
          tags,
          summary: 'Send a test notification',
          description:
            'Makes one attempt at once, without retries. The payload has "test": true and the example of the event as `data`. The ' +
            'delivery log does not show it.',
          params: WebhookParams,
          body: DispatchTest,
          response: { 200: DataOf(TestResult, 'How the attempt ended'), ...errorResponses }
        }
      },
      async (request) => {
        const id = storableId(request.params.id)
        return { data: found(await operations.sendTest(readTenant(request), id, request.body)) }
      }
    )

    app.post('/webhooks/:id/replay', {
      config: { scopes: webhookScopes, capabilities: ['replay'], resource: 'webhook' },
      schema: {
        operationId: 'replayWebhook',
        tags,
        summary: 'Replay notifications',
        description: 'Queues past events again, with the same event ids. Skips events that are still pending.',
        params: WebhookParams,
        body: Replay,
        response: {
          200: DataOf(ReplayResult, 'What would be queued, with dry_run'),
          202: DataOf(ReplayResult, 'What was queued'),
          ...errorResponses
        }
      }
    }, async (request, reply) => {
      const id = storableId(request.params.id)
      const data = found(await operations.replay(readTenant(request), id, request.body))
      reply.code(request.body.dry_run ? 200 : 202)
      return { data }
    })
  }
}
