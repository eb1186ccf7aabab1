import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callHost } from '../observe/call-host.js'
import { type KeyedRequest, kApiKey, readTenantSlug } from './auth.js'
import { logOf } from './log.js'
import { readOperationId } from './operation-id.js'
import { readRequestId } from './request-id.js'

/** Who asked for what: a record without personal data. */
export interface AuditEntry {
  /** As in `x-request-id` and in the log. */
  requestId: string
  /** As the caller wrote it; a tenant only if there is a `keyId`. */
  tenantSlug: string
  /** The id that the key lookup gave; `null` if it refused the key. */
  keyId: string | null
  /** Such as `listCandidates`; `null` for an unknown path. */
  operationId: string | null
  /** Of HTTP, such as `GET`. */
  method: string
  /** The names of the filters that were given, such as `filter[q]`. Never their values. */
  filters: readonly string[]
  /** The HTTP status of the answer. */
  status: number
  /** How many items the answer shows; `null` if it shows none at all, as for errors and HEAD. */
  rowCount: number | null
}

/** Told of a request once it is answered; what it throws is logged. */
export type AuditListener = (entry: AuditEntry) => unknown

const kRowCount = Symbol('row count')

interface AuditedRequest extends KeyedRequest {
  [kRowCount]?: number | null
}

/** Tells the host of every request to the scope, once it is answered. To be called before routes are made to send text. */
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
  const key = request[kApiKey]
  const isShown = status < 300 && request.method !== 'HEAD'
  return {
    requestId: readRequestId(request),
    tenantSlug: readTenantSlug(request),
    keyId: key?.id ?? null,
    operationId: readOperationId(request),
    method: request.method,
    filters: key === undefined ? [] : listFilters(request),
    status,
    rowCount: isShown ? request[kRowCount] ?? null : null
  }
}

/** Those that the operation has: the name of any other parameter is the caller's, and may be anything. */
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
