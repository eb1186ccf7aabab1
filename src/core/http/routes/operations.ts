import type { FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import type { Given, Operation, ValidInput } from '../../api/operation.js'
import { DeliveryParams, WebhookParams } from '../../api/parameters.js'
import { webhookScopes } from '../../api/scopes.js'
import type { Id } from '../../ports/index.js'
import { omitUndefined } from '../../shared/fields.js'
import type { Page } from '../../shared/paging.js'
import { Type } from '../../shared/typebox.js'
import { atomic, isCapable, readCreator, readTenant, stateOf } from '../request.js'
import { found, linkPages, readAddress, storableId } from '../responses/rows.js'
import { errorResponses, PageOf, SyncTokenExpired } from '../schemas.js'
import { HttpError } from '../wire-errors.js'

export interface ApiOperation extends Operation, Performer<unknown> {}

interface Performer<Input> {
  /** Returns `null` if the record does not exist. A method, because the ids of webhooks are always numbers. */
  run (given: Given<Input>, request: FastifyRequest): Promise<unknown>
}

/** Returns the operations with the functions that perform them. The compiler reports a missing one. */
export function perform<Entries extends Record<string, Operation>> (
  entries: Entries, functions: { [Name in keyof Entries]: Performer<ValidInput<Entries[Name]>>['run'] }
): ApiOperation[] {
  return Object.entries(entries).map(([name, entry]) => ({ ...entry, run: functions[name] as ApiOperation['run'] }))
}

interface Params {
  id?: Id
  delivery_id?: number
}

export function listRoutes (entries: readonly ApiOperation[], hasSessions: boolean): RouteOptions[] {
  return entries.flatMap((entry) => {
    const { method, path, scopes = webhookScopes, withoutBodies = {} } = entry
    const { anyScope, capabilities, resource, hints } = entry
    if (method === null) return []
    const firstStatus = Number(Object.keys(entry.results)[0])
    const hasAddress = entries.some((other) => other.method === 'GET' && other.path === `${path}/:id`)
    return [{
      method,
      url: path,
      exposeHeadRoute: method === 'GET',
      config: {
        scopes,
        ...omitUndefined({ anyScope, capabilities, resource, mcp: hints }),
        ...method === 'POST' ? { idempotent: entry.returnsSecret === true ? 'sealed' : true } : {},
        ...entry.isAtomic === true ? atomic : {}
      },
      schema: formatSchema(entry, { hasSessions, hasAddress }),
      async handler (request, reply) {
        const { id, delivery_id: deliveryId } = request.params as Params
        const input: unknown = hasQuery(entry) ? request.query : request.body
        const hasBodies = isCapable(request, 'bodies')
        if (!hasBodies && withoutBodies.forbids?.(input) === true) throw new HttpError('forbidden')
        const status = entry.statusFor?.(input) ?? firstStatus
        function respond (result: unknown): unknown {
          reply.code(status)
          if (entry.shape === 'none') return undefined
          if (entry.shape === 'follow' || entry.shape === 'sync') return result
          if (entry.shape !== 'one') return linkPages(request, reply, result as Page<unknown>)
          if (status === 201 && hasAddress) {
            reply.header('location', `${readAddress(request)}/${(result as { id: Id }).id}`)
          }
          return { data: hasBodies ? result : withoutBodies.hide?.(result) ?? result }
        }
        const state = stateOf(request)
        const omitBody = entry.hasBody === true && request.method === 'HEAD'
        const result = found(await entry.run({
          tenant: readTenant(request),
          caller: readCreator(request),
          id: readId(id),
          deliveryId: readId(deliveryId),
          omitBody,
          input,
          keep: state.keep?.(respond)
        }, request))
        state.isShortened ||= omitBody
        return respond(result)
      }
    }]
  })
}

function hasQuery ({ method }: Pick<ApiOperation, 'method'>): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** Returns 0 for an operation without an id in its path, which does not read it. */
function readId<OwnId extends Id> (id: OwnId | undefined): OwnId | 0 {
  return id === undefined ? 0 : storableId(id)
}

function formatSchema (
  entry: ApiOperation, { hasSessions, hasAddress }: { hasSessions: boolean, hasAddress: boolean }
): FastifySchema {
  const { operationId, path, tag, summary, description, input, withoutBodies = {} } = entry
  const note = hasSessions && withoutBodies.note !== undefined ? ` ${withoutBodies.note}` : ''
  const ownParams = path.includes(':delivery_id') ? DeliveryParams : path.includes(':id') ? WebhookParams : undefined
  const params = entry.params ?? ownParams
  const responses = Object.entries(entry.results).map(([status, about]) => {
    return [status, describeResult(entry, about, { hasSessions, hasLocation: hasAddress && status === '201' })]
  })
  // Not returned directly: Fastify's types declare only some of these fields.
  const schema = {
    operationId,
    tags: [tag],
    summary,
    description: `${description}${note}`,
    ...params === undefined ? {} : { params },
    ...input === undefined ? {} : hasQuery(entry) ? { querystring: input } : { body: input },
    response: {
      ...Object.fromEntries(responses),
      ...errorResponses,
      ...entry.shape === 'follow' || entry.shape === 'sync' ? { 410: SyncTokenExpired } : {}
    }
  }
  return schema
}

const locationHeader = {
  location: Type.String({
    description: "The webhook's URL: relative, or absolute if the vendor has set a public URL",
    examples: ['/api/v1/public/acme/webhooks/1']
  })
}

function describeResult (
  { shape, item = Type.Null(), withoutBodies }: ApiOperation,
  about: string,
  { hasSessions, hasLocation }: { hasSessions: boolean, hasLocation: boolean }
): TSchema {
  const shown = hasSessions ? withoutBodies?.item ?? item : item
  if (shape === 'none') return Type.Null({ description: about })
  if (shape !== 'one') return PageOf(shape, shown, about)
  return Type.Object({ data: shown }, { description: about, headers: hasLocation ? locationHeader : {} })
}

/** Adds the addresses that notifications come from to the description of an operation. */
export function describeSources<Entry extends Operation> (entry: Entry, sourceIps: readonly string[]): Entry {
  if (sourceIps.length === 0) return entry
  const addresses = sourceIps.map((address) => `\`${address}\``).join(', ')
  return { ...entry, description: `${entry.description} Notifications come from ${addresses}.` }
}
