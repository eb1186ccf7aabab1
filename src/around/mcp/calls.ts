import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { operationIdOf } from '../../core/http/document/operation.js'
import { type Access, findState, stateOf } from '../../core/http/request.js'
import type { RouteContext } from '../../core/http/route.js'
import { HttpError } from '../../core/http/wire-errors.js'
import { omitUndefined, readField } from '../../core/shared/fields.js'

export interface Call {
  method: string
  url: string
  /** The path below the tenant, with its query, such as `/jobs/1`. */
  path: string
  /** The body as JSON; `null` for none. */
  body: string | null
  /** Sent as `Idempotency-Key`; `null` for none. */
  idempotencyKey: string | null
}

export interface CallOptions {
  /** Whether it repeats an earlier, counted call of the same message. */
  isRepeated?: boolean
  /** For a reader of events that accepts gaps: the time from which it wants events. Its pages have the usual size. */
  resume?: { since: string | null }
}

/** Length of the rows in the text of a result, in UTF-16 code units. A longer first row is shown whole. */
export const maxRowsLength = 20_000

export interface CallAnswer {
  status: number
  text: string
}

/** Identifies a call to the API. Its value cannot be guessed, and is valid only during the call. */
const callHeader = 'x-recruiting-call'

/**
 * Headers that only apply to the client's request: they describe its body, its connection or its response format, or
 * identify it. All others are passed on, because host hooks may need them.
 */
const ownHeaders =
  /^(?::|accept|content-|if-|mcp-|connection|expect|idempotency-key|keep-alive|last-event-id|origin|range|te$|trailer|transfer-|upgrade)/

const passedHeaders = ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/** Encodes a path segment; `null` for text that cannot be one, such as dots, which change the path. */
export function encodePart (text: string): string | null {
  return /^\.{0,2}$/.test(text) ? null : encodeURIComponent(text)
}

/**
 * Calls operations for authenticated clients. A call is a separate request with its own request id: it runs the host's
 * hooks, the scope check, the validation and the audit. Its caller is that of the client's request, which was already
 * counted, so it counts only if its operation has its own budget.
 */
export class Calls {
  readonly #calls = new Map<string, { access: Access, url: string } & CallOptions>()

  /** Returns the call of a request. Throws a 404 if it reached another operation, such as `sync` instead of an id. */
  #find ({ headers, routeOptions }: FastifyRequest) {
    const call = this.#calls.get(String(headers[callHeader]))
    if (call !== undefined && call.url !== routeOptions.url) throw new HttpError('not_found')
    return call
  }

  admit (context: RouteContext): RouteContext {
    const { findAccess, limits } = context
    return {
      ...context,
      findAccess: async (request, reply) => {
        const call = this.#find(request)
        const state = findState(request)
        if (call?.resume !== undefined && state !== null) state.resume = call.resume
        else if (call !== undefined && state !== null) state.maxEventsBytes = maxRowsLength
        return call?.access ?? await findAccess(request, reply)
      },
      limits: limits && {
        ...limits,
        count: async (request, reply) => {
          const call = this.#find(request)
          const isCounted = call === undefined ||
            (call.isRepeated !== true && limits.hasBudget(operationIdOf(request.routeOptions.schema)))
          if (isCounted) await limits.count(request, reply)
        }
      }
    }
  }

  /** Calls an operation. `prefix` is the prefix of the API's routes, with its parameters. */
  async send (
    request: FastifyRequest, reply: FastifyReply,
    { method, url, path, body, idempotencyKey, prefix, ...options }: Call & CallOptions & { prefix: string }
  ): Promise<CallAnswer> {
    const name = randomUUID()
    const state = stateOf(request)
    const { remoteAddress } = request.raw.socket
    const mounted = fillParameters(prefix, { ...request.params as object, tenant_slug: state.tenantSlug })
    if (mounted === null) return { status: 404, text: '' }
    this.#calls.set(name, { access: state.access, url, ...options })
    try {
      const response = await request.server.inject({
        method: method as 'GET',
        url: `${mounted}${path}`,
        headers: {
          ...Object.fromEntries(Object.entries(request.raw.headers).filter(([name]) => !ownHeaders.test(name))),
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
          [callHeader]: name
        },
        ...(body === null ? {} : { payload: body }),
        // A Unix socket has no address.
        ...omitUndefined({ remoteAddress })
      })
      for (const header of passedHeaders) {
        const value = response.headers[header]
        if (value !== undefined) reply.header(header, value)
      }
      // The call has its own audit entry.
      state.isAudited = true
      return { status: response.statusCode, text: response.payload }
    } catch (error) {
      // A closing server accepts no calls.
      if (readField(error, 'code') === 'FST_ERR_REOPENED_CLOSE_SERVER') return { status: 503, text: '' }
      throw error
    } finally {
      this.#calls.delete(name)
    }
  }
}

/** Fills in a prefix's parameters, the tenant and the host's own; `null` if one cannot be in a URL. */
function fillParameters (prefix: string, values: Record<string, unknown>): string | null {
  const names = Array.from(prefix.matchAll(/:(\w+)/g), ([, name = '']) => name)
  const parts = new Map(names.map((name) => [name, encodePart(String(values[name]))]))
  return names.some((name) => parts.get(name) === null)
    ? null
    : prefix.replace(/:(\w+)/g, (_, name) => String(parts.get(name)))
}
