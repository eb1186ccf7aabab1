import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { WebhookOperations } from '../../webhooks/operations.js'
import { EventType, EventTypeQuery } from '../../webhooks/schemas/event-type.js'
import { linkPages } from '../responses/rows.js'
import { PageOf } from '../schemas/parameters.js'
import { errorResponses } from '../schemas/errors.js'
import { webhookScopes } from '../../keys/api-key.js'

/**
 * The route that lists the events of the catalogue. Its description names the addresses that notifications come from.
 */
export function eventTypeRoutes (
  operations: WebhookOperations,
  sourceIps: readonly string[]
): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/event_types',
      {
        exposeHeadRoute: true,
        config: { scopes: webhookScopes },
        schema: {
          operationId: 'listEventTypes',
          tags: ['events'],
          summary: 'List the event types',
          description: [
            'Returns the events that a webhook can subscribe to, with the JSON Schema of their `data` and an example.',
            ...describeSources(sourceIps)
          ].join(' '),
          querystring: EventTypeQuery,
          response: { 200: PageOf(EventType, 'A page of event types'), ...errorResponses }
        }
      },
      async (request, reply) => linkPages(request, reply, await operations.listEventTypes(request.query))
    )
  }
}

function describeSources (sourceIps: readonly string[]): string[] {
  return sourceIps.length === 0
    ? []
    : [`Notifications come from ${sourceIps.map((address) => `\`${address}\``).join(', ')}.`]
}
