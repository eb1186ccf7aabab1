import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { operationIdOf } from '../http/document/operation.js'
import { type Access, stateOf } from '../http/request.js'
import type { RouteContext } from '../http/route.js'
import { HttpError } from '../http/wire-errors.js'
import { omitUndefined, readField } from '../shared/fields.js'

/** A call of an operation. */
export interface Call {
  method: string
  /** The route of the operation. */
  url: string
  /** The path below the tenant, with its query, such as `/jobs/1`. */
  path: string
  /** The body as JSON; `null` for none. */
  body: string | null
}

export interface CallOptions {
  /** Whether it repeats an earlier call of the same message, which has been counted. */
  isRepeated?: boolean
}

/** The response to a call. */
export interface CallAnswer {
  status: number
  text: string
}

/** Names a call to the API. Its value cannot be guessed, and is valid only while the call lasts. */
const callHeader = 'x-recruiting-call'

/**
 * Headers that belong to the request of the client alone: they describe its body, its connection, or the form of its
 * response. All others are passed on, because hooks of the host may need them.
 */
const ownHeaders =
  /^(?::|accept|content-|if-|mcp-|connection|expect|keep-alive|last-event-id|origin|range|te$|trailer|transfer-|upgrade)/

/** Headers of the response to a call that the client needs. */
const passedHeaders = ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/** Encodes a part of a path; `null` for a text that cannot be one: in URLs, dots mean another folder. */
export function encodePart (text: string): string | null {
  return /^\.{0,2}$/.test(text) ? null : encodeURIComponent(text)
}

/**
 * Calls operations for authenticated clients. A call is a separate request with its own request id: it
 * passes the hooks of the host, the scopes, the validation and the audit. It has the caller of the client's request,
 * which has been counted, so it counts only if its operation has a budget of its own.
 */
export class Calls {
  readonly #calls = new Map<string, { access: Access, url: string, isRepeated: boolean }>()

  /** Returns the call of a request. Throws a 404 if it has reached another operation, such as `sync` with this id. */
  #find ({ headers, routeOptions }: FastifyRequest) {
    const call = this.#calls.get(String(headers[callHeader]))
    if (call !== undefined && call.url !== routeOptions.url) throw new HttpError('not_found')
    return call
  }

  /** Returns the context of the operations, which lets calls in. */
  admit (context: RouteContext): RouteContext {
    const { findAccess, limits } = context
    return {
      ...context,
      findAccess: async (request, reply) => this.#find(request)?.access ?? await findAccess(request, reply),
      limits: limits && {
        ...limits,
        count: async (request, reply) => {
          const call = this.#find(request)
          const isCounted = call === undefined ||
            (!call.isRepeated && limits.hasBudget(operationIdOf(request.routeOptions.schema)))
          if (isCounted) await limits.count(request, reply)
        }
      }
    }
  }

  /** Calls an operation. `prefix` is that of the API's routes, with their parameters. */
  async send (
    request: FastifyRequest,
    reply: FastifyReply,
    { method, url, path, body, prefix, isRepeated = false }: Call & CallOptions & { prefix: string }
  ): Promise<CallAnswer> {
    const name = randomUUID()
    const state = stateOf(request)
    const { remoteAddress } = request.raw.socket
    const mounted = fillParameters(prefix, { ...request.params as object, tenant_slug: state.tenantSlug })
    if (mounted === null) return { status: 404, text: '' }
    this.#calls.set(name, { access: state.access, url, isRepeated })
    try {
      const response = await request.server.inject({
        method: method as 'GET',
        url: `${mounted}${path}`,
        headers: {
          ...Object.fromEntries(Object.entries(request.raw.headers).filter(([name]) => !ownHeaders.test(name))),
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          [callHeader]: name
        },
        ...(body === null ? {} : { payload: body }),
        // A Unix socket has none.
        ...omitUndefined({ remoteAddress })
      })
      for (const header of passedHeaders) {
        const value = response.headers[header]
        if (value !== undefined) reply.header(header, value)
      }
      // The call has an entry of its own.
      state.isAudited = true
      return { status: response.statusCode, text: response.payload }
    } catch (error) {
      // A server that is closing takes no calls.
      if (readField(error, 'code') === 'FST_ERR_REOPENED_CLOSE_SERVER') return { status: 503, text: '' }
      throw error
    } finally {
      this.#calls.delete(name)
    }
  }
}

/**
 * Fills in the parameters of a prefix: the tenant, and those of the host. Returns `null` if one cannot be in a URL. The
 * text of the client's URL is not used.
 */
function fillParameters (prefix: string, values: Record<string, unknown>): string | null {
  const names = Array.from(prefix.matchAll(/:(\w+)/g), ([, name = '']) => name)
  const parts = new Map(names.map((name) => [name, encodePart(String(values[name]))]))
  return names.some((name) => parts.get(name) === null)
    ? null
    : prefix.replace(/:(\w+)/g, (_, name) => String(parts.get(name)))
}
