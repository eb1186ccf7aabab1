import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { skipAudit } from './audit.js'
import { readPath } from './address.js'
import type { Limits } from './limits/limits.js'
import { omitUndefined, readField } from '../shared/fields.js'
import { type Access, stateOf } from './request.js'

/** The request that a call is made for. */
interface Origin {
  access: Access
  /** Whether the call has reached the API, which counts and audits it. */
  isSeen: boolean
}

/** A call of an operation. */
export interface Call {
  method: string
  /** The path below the tenant, with its query, such as `/jobs/1`. */
  path: string
  /** The body as JSON; `null` for none. */
  body: string | null
}

/** The response to a call. */
export interface CallAnswer {
  status: number
  headers: Record<string, unknown>
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

/**
 * Calls operations for a client whose request was let in. A call is a request of its own: it passes the hooks of the
 * host, the scopes, limits, validation and the audit. It has the caller of the request that it is made for.
 */
export class Calls {
  readonly #origins = new Map<string, Origin>()
  readonly #limits: Limits | null

  constructor (limits: Limits | null) {
    this.#limits = limits
  }

  /** Returns the origin of a call; `null` for the request of a client. */
  find ({ headers }: IncomingMessage): Omit<Origin, 'isSeen'> | null {
    const name = headers[callHeader]
    return name === undefined ? null : this.#origins.get(String(name)) ?? null
  }

  /** The same, once the call has reached the API. */
  receive (raw: IncomingMessage): Access | null {
    const origin = this.find(raw)
    if (origin === null) return null
    Object.assign(origin, { isSeen: true })
    return origin.access
  }

  /** Returns the response, and whether the call was counted and audited in place of its request. */
  async send (request: FastifyRequest, { method, path, body }: Call): Promise<CallAnswer & { isCounted: boolean }> {
    const name = randomUUID()
    const { access } = stateOf(request)
    const origin: Origin = { access, isSeen: false }
    this.#origins.set(name, origin)
    const { remoteAddress } = request.raw.socket
    const response = await request.server
      .inject({
        method: method as 'GET',
        url: `${readPath(request.originalUrl).replace(/\/[^/]*$/, '')}${path}`,
        headers: {
          ...passOn(request.raw.headers),
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          [callHeader]: name
        },
        ...(body === null ? {} : { payload: body }),
        // A Unix socket has none.
        ...omitUndefined({ remoteAddress })
      })
      .catch(describeClosing)
      .finally(() => this.#origins.delete(name))
    if (origin.isSeen) skipAudit(request)
    return { status: response.statusCode, headers: response.headers, text: response.payload, isCounted: origin.isSeen }
  }

  /** Counts a request that made no call. */
  async count (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#limits?.count(request, reply)
  }
}

/** A server that is closing takes no calls. */
function describeClosing (error: unknown): { statusCode: number, headers: Record<string, unknown>, payload: string } {
  if (readField(error, 'code') === 'FST_ERR_REOPENED_CLOSE_SERVER') return { statusCode: 503, headers: {}, payload: '' }
  throw error
}

function passOn (headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.test(name)))
}

const kEndpoint = Symbol('endpoint of calls')

/** A route that makes calls. */
interface Endpoint {
  /** Maximum length of a key. */
  maxKeyLength: number
  /** Whether the route counts its requests itself. */
  countsItself: boolean
}

/** Returns the config of a route that makes calls. */
export function endpointConfig (endpoint: Endpoint): object {
  return { [kEndpoint]: endpoint }
}

/** Returns the settings of a route; `null` unless it makes calls. */
export function readEndpoint (config: FastifyContextConfig | undefined): Endpoint | null {
  return (config as { [kEndpoint]?: Endpoint } | undefined)?.[kEndpoint] ?? null
}
