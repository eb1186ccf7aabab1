import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callHost } from '../observe/call-host.js'
import { type KeyedRequest, kCaller, readTenantSlug } from './auth.js'
import { logOf } from './log.js'
import { readOperationId } from './operation-id.js'
import { readRequestId } from './request-id.js'

/** A record of who requested what, without personal data. */
export interface AuditEntry {
  /** The id in `x-request-id` and in the log. */
  requestId: string
  /** The slug in the path. It is known to be a tenant only if there is a `keyId` or an `actor`. */
  tenantSlug: string
  /** The id that the key lookup returned; `null` if the key was refused, and for a session of the portal. */
  keyId: string | null
  /** The actor of a session of the portal; `null` for a key. */
  actor: string | null
  /** For example `listCandidates`; `null` for an unknown path. */
  operationId: string | null
  /** The HTTP method, for example `GET`. */
  method: string
  /** Names of the filters in the query, for example `filter[q]`. Never their values. */
  filters: readonly string[]
  /** HTTP status of the answer. */
  status: number
  /** Number of items in the answer; `null` if it has no `data`, as for errors and HEAD. */
  rowCount: number | null
}

/** Receives an entry after each answer. Errors that it throws are logged. */
export type AuditListener = (entry: AuditEntry) => unknown

const kRowCount = Symbol('row count')

interface AuditedRequest extends KeyedRequest {
  [kRowCount]?: number | null
}

/** Calls the listener after every answer of the scope. Call this before `answering` wraps the handlers: it counts rows. */
export function auditRequests (scope: FastifyInstance, listener: AuditListener): void {
  scope.decorateRequest(kRowCount, null)
  scope.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = async function (request: AuditedRequest, reply) {
      const payload: unknown = await handler.call(this, request, reply)
      request[kRowCount] = countRows(payload)
      return payload
    }
  })
  scope.addHook('onResponse', (request, reply, done) => {
    const onError = (err: unknown): void => logOf(request).error({ err }, 'the onAudit option failed')
    callHost(() => listener(describe(request, reply.statusCode)), onError)
    done()
  })
}

function describe (request: AuditedRequest, status: number): AuditEntry {
  const caller = request[kCaller]
  const isShown = status < 300 && request.method !== 'HEAD'
  return {
    requestId: readRequestId(request),
    tenantSlug: readTenantSlug(request),
    keyId: caller?.keyId ?? null,
    actor: caller?.actor ?? null,
    operationId: readOperationId(request),
    method: request.method,
    filters: caller === undefined ? [] : listFilters(request),
    status,
    rowCount: isShown ? request[kRowCount] ?? null : null
  }
}

/** Lists only filters that the operation knows: the name of any other parameter may hold any text. */
function listFilters ({ routeOptions, query }: FastifyRequest): string[] {
  const { properties = {} } = (routeOptions.schema?.querystring ?? {}) as { properties?: object }
  const given = query as Record<string, unknown>
  return Object.keys(properties).filter((name) => name.startsWith('filter[') && given[name] !== undefined)
}

function countRows (payload: unknown): number | null {
  const { data } = (payload ?? {}) as { data?: unknown }
  if (Array.isArray(data)) return data.length
  return data === undefined ? null : 1
}
