import type { FastifyPluginAsync, FastifySchema } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import { webhookScopes } from '../../keys/api-key.js'
import type { Page } from '../../shared/paging.js'
import { Type } from '../../shared/typebox.js'
import type { Operation } from '../../webhooks/operation-table.js'
import type { WebhookOperations } from '../../webhooks/operations.js'
import { readAddress } from '../address.js'
import { isCapable, readTenant } from '../request.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { errorResponses } from '../schemas/errors.js'
import { DataOf, DeliveryParams, LogPageOf, NoContent, PageOf, WebhookParams } from '../schemas/parameters.js'
import { HttpError } from '../wire-errors.js'

interface Params {
  id?: number
  delivery_id?: number
}

/** Returns a plugin with a route for each of these operations. */
export function operationRoutes (
  operations: WebhookOperations,
  entries: readonly Operation[],
  { hasSessions }: { hasSessions: boolean }
): FastifyPluginAsync {
  return async (app) => {
    for (const entry of entries) {
      const { method, path, capabilities, resource, hints, withoutBodies = {} } = entry
      if (method === null) continue
      app.route<{ Params: Params }>({
        method,
        url: path,
        exposeHeadRoute: method === 'GET',
        config: {
          scopes: webhookScopes,
          ...capabilities === undefined ? {} : { capabilities },
          ...resource === undefined ? {} : { resource },
          ...hints === undefined ? {} : { mcp: hints }
        },
        schema: formatSchema(entry, hasSessions),
        async handler (request, reply) {
          const { id, delivery_id: deliveryId } = request.params
          const input: unknown = method === 'GET' ? request.query : request.body
          const hasBodies = isCapable(request, 'bodies')
          if (!hasBodies && withoutBodies.forbids?.(input) === true) throw new HttpError('forbidden')
          const result = found(await entry.run(operations, {
            tenant: readTenant(request), id: readId(id), deliveryId: readId(deliveryId), input
          }))
          const status = entry.statusFor?.(input) ?? Number(Object.keys(entry.results)[0])
          if (entry.shape === 'none') return
          reply.code(status)
          if (entry.shape !== 'one') return linkPages(request, reply, result as Page<unknown>)
          if (status === 201) reply.header('location', `${readAddress(request)}/${(result as { id: number }).id}`)
          return { data: hasBodies ? result : withoutBodies.hide?.(result) ?? result }
        }
      })
    }
  }
}

/** An operation whose path lacks the id does not read it. */
function readId (id: number | undefined): number {
  return id === undefined ? 0 : storableId(id)
}

function formatSchema (entry: Operation, hasSessions: boolean): FastifySchema {
  const { operationId, method, path, tag, summary, description, input, withoutBodies = {} } = entry
  const note = hasSessions && withoutBodies.note !== undefined ? ` ${withoutBodies.note}` : ''
  const params = path.includes(':delivery_id') ? DeliveryParams : path.includes(':id') ? WebhookParams : undefined
  const responses = Object.entries(entry.results).map(([status, about]) => {
    return [status, describeResult(entry, about, status === '201', hasSessions)]
  })
  // The types of Fastify know only a part of these fields.
  const schema = {
    operationId,
    tags: [tag],
    summary,
    description: `${description}${note}`,
    ...params === undefined ? {} : { params },
    ...input === undefined ? {} : method === 'GET' ? { querystring: input } : { body: input },
    response: { ...Object.fromEntries(responses), ...errorResponses }
  }
  return schema
}

const locationHeader = {
  location: Type.String({
    description: 'The address of the webhook: a path, or a URL if the vendor sets one',
    examples: ['/api/v1/public/acme/webhooks/1']
  })
}

function describeResult (
  { shape, item = Type.Null(), withoutBodies }: Operation, about: string, isCreated: boolean, hasSessions: boolean
): TSchema {
  const shown = hasSessions ? withoutBodies?.item ?? item : item
  if (shape === 'none') return NoContent(about)
  if (shape === 'one') return DataOf(shown, about, isCreated ? locationHeader : {})
  return shape === 'log' ? LogPageOf(shown, about) : PageOf(shown, about)
}

/** Adds the addresses that notifications come from to the description of an operation. */
export function describeSources (entry: Operation, sourceIps: readonly string[]): Operation {
  if (sourceIps.length === 0) return entry
  const addresses = sourceIps.map((address) => `\`${address}\``).join(', ')
  return { ...entry, description: `${entry.description} Notifications come from ${addresses}.` }
}
