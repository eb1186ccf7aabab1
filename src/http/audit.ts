import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type AuditEntry, type AuditListener, type AuditedResource, reportAudit } from '../observe/audit.js'
import { readField } from '../shared/fields.js'
import { type KeyedRequest, kCaller, readTenantSlug } from './auth.js'
import { logOf } from './log.js'
import { readOperationId } from './document/operation.js'
import { readRequestId } from './request-id.js'

const kRowCount = Symbol('row count')
const kResource = Symbol('resource')
const kIsReported = Symbol('is reported')

interface AuditedRequest extends KeyedRequest {
  [kRowCount]?: number | null
  [kResource]?: AuditedResource | null
  [kIsReported]?: boolean
}

/** Calls the listener once for every request of the scope, after its response. Call this before `answering` wraps the handlers: it counts rows. */
export function auditRequests (scope: FastifyInstance, listener: AuditListener): void {
  scope.decorateRequest(kRowCount, null)
  scope.decorateRequest(kResource, null)
  scope.decorateRequest(kIsReported, false)
  scope.addHook('onRoute', (route) => {
    const { handler } = route
    const readResource = createResourceReader(route)
    route.handler = async function (request: AuditedRequest, reply) {
      request[kResource] = readResource(request, null)
      const payload: unknown = await handler.call(this, request, reply)
      request[kRowCount] = countRows(payload)
      request[kResource] ??= readResource(request, payload)
      return payload
    }
  })
  function report (request: AuditedRequest, reply: FastifyReply): void {
    if (request[kIsReported] === true) return
    request[kIsReported] = true
    reportAudit(listener, describe(request, reply.statusCode), () => logOf(request))
  }

  scope.addHook('onSend', (request, reply, _payload, done) => {
    // A client that has closed the connection gets no response, so that `onResponse` does not run.
    if (reply.raw.destroyed) report(request, reply)
    else reply.raw.once('close', () => report(request, reply))
    done()
  })
  scope.addHook('onResponse', (request, reply, done) => {
    report(request, reply)
    done()
  })
}

/** Leaves a request out of the audit, because another entry has the same request id. */
export function skipAudit (request: AuditedRequest): void {
  request[kIsReported] = true
}

function describe (request: AuditedRequest, status: number): AuditEntry {
  const caller = request[kCaller]
  const isShown = status < 300 && request.method !== 'HEAD'
  return {
    source: 'request',
    requestId: readRequestId(request),
    tenantSlug: readTenantSlug(request),
    keyId: caller?.keyId ?? null,
    actor: caller?.actor ?? null,
    operationId: readOperationId(request),
    isDeprecated: request.routeOptions.config.deprecated !== undefined,
    resource: request[kResource] ?? null,
    method: request.method,
    filters: caller === undefined ? [] : listFilters(request),
    status,
    rowCount: isShown ? request[kRowCount] ?? null : null
  }
}

/**
 * Returns a reader of the record that a request is about: its id is the last parameter of the path or, if that is the tenant, in
 * the response.
 */
function createResourceReader ({ url, config }: RouteOptions): (request: FastifyRequest, payload: unknown) => AuditedResource | null {
  const kind = config?.resource
  if (kind === undefined) return () => null
  const parameter = url.replace(/^.*:(\w+).*$/, '$1')
  const isInPath = parameter !== 'tenant_slug'
  return ({ params }, payload) => {
    const id: unknown = isInPath ? readField(params, parameter) : readField(readField(payload, 'data'), 'id')
    return typeof id === 'string' || typeof id === 'number' ? { kind, id } : null
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
