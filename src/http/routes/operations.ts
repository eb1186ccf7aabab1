import type { FastifyPluginAsync, FastifyRequest, FastifySchema } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import { webhookScopes } from '../../keys/api-key.js'
import type { Id } from '../../ports/index.js'
import type { Page } from '../../shared/paging.js'
import { Type } from '../../shared/typebox.js'
import type { Operation } from '../../webhooks/operation-table.js'
import { readAddress } from '../address.js'
import { isCapable, readTenant } from '../request.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { errorResponses } from '../schemas/errors.js'
import { DataOf, DeliveryParams, LogPageOf, NoContent, PageOf, WebhookParams } from '../schemas/parameters.js'
import { HttpError } from '../wire-errors.js'

interface Params {
  id?: Id
  delivery_id?: number
}

/** Returns a plugin with a route for each of these operations. `operationsFor` returns what a request can do. */
export function operationRoutes<Operations> (
  operationsFor: (request: FastifyRequest) => Operations,
  entries: ReadonlyArray<Operation<Operations, Id>>,
  { hasSessions }: { hasSessions: boolean }
): FastifyPluginAsync {
  return async (app) => {
    for (const entry of entries) {
      const { method, path, scopes = webhookScopes, capabilities, resource, hints, withoutBodies = {} } = entry
      if (method === null) continue
      const hasAddress = entries.some((other) => other.method === 'GET' && other.path === `${path}/:id`)
      app.route<{ Params: Params }>({
        method,
        url: path,
        exposeHeadRoute: method === 'GET',
        config: {
          scopes,
          ...capabilities === undefined ? {} : { capabilities },
          ...resource === undefined ? {} : { resource },
          ...hints === undefined ? {} : { mcp: hints },
          ...method === 'POST' ? { idempotent: entry.returnsSecret === true ? 'sealed' : true } : {}
        },
        schema: formatSchema(entry, { hasSessions, hasAddress }),
        async handler (request, reply) {
          const { id, delivery_id: deliveryId } = request.params
          const input: unknown = method === 'GET' ? request.query : request.body
          const hasBodies = isCapable(request, 'bodies')
          if (!hasBodies && withoutBodies.forbids?.(input) === true) throw new HttpError('forbidden')
          const result = found(await entry.run(operationsFor(request), {
            tenant: readTenant(request), id: readId(id), deliveryId: readId(deliveryId), input
          }))
          const status = entry.statusFor?.(input) ?? Number(Object.keys(entry.results)[0])
          if (entry.shape === 'none') return
          reply.code(status)
          if (entry.shape !== 'one') return linkPages(request, reply, result as Page<unknown>)
          if (status === 201 && hasAddress) {
            reply.header('location', `${readAddress(request)}/${(result as { id: Id }).id}`)
          }
          return { data: hasBodies ? result : withoutBodies.hide?.(result) ?? result }
        }
      })
    }
  }
}

/** An operation whose path lacks the id does not read it. */
function readId<OwnId extends Id> (id: OwnId | undefined): OwnId | 0 {
  return id === undefined ? 0 : storableId(id)
}

type AnyOperation = Operation<never, Id>

function formatSchema (
  entry: AnyOperation, { hasSessions, hasAddress }: { hasSessions: boolean, hasAddress: boolean }
): FastifySchema {
  const { operationId, method, path, tag, summary, description, input, withoutBodies = {} } = entry
  const note = hasSessions && withoutBodies.note !== undefined ? ` ${withoutBodies.note}` : ''
  const ownParams = path.includes(':delivery_id') ? DeliveryParams : path.includes(':id') ? WebhookParams : undefined
  const params = entry.params ?? ownParams
  const responses = Object.entries(entry.results).map(([status, about]) => {
    return [status, describeResult(entry, about, { hasSessions, hasLocation: hasAddress && status === '201' })]
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
  { shape, item = Type.Null(), withoutBodies }: AnyOperation,
  about: string,
  { hasSessions, hasLocation }: { hasSessions: boolean, hasLocation: boolean }
): TSchema {
  const shown = hasSessions ? withoutBodies?.item ?? item : item
  if (shape === 'none') return NoContent(about)
  if (shape === 'one') return DataOf(shown, about, hasLocation ? locationHeader : {})
  return shape === 'log' ? LogPageOf(shown, about) : PageOf(shown, about)
}

/** Adds the addresses that notifications come from to the description of an operation. */
export function describeSources (entry: Operation, sourceIps: readonly string[]): Operation {
  if (sourceIps.length === 0) return entry
  const addresses = sourceIps.map((address) => `\`${address}\``).join(', ')
  return { ...entry, description: `${entry.description} Notifications come from ${addresses}.` }
}
