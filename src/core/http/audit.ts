import type { FastifyReply, FastifyRequest, onResponseHookHandler, onSendHookHandler, RouteOptions } from 'fastify'
import { type AuditedResource, type Auditor, type UndatedEntry, withCreator } from '../observe/audit.js'
import { readField } from '../shared/fields.js'
import { parseClientAddress } from './client-address.js'
import { operationIdOf } from './document/operation.js'
import { logOf } from './log.js'
import { findState, readTenantSlug, type RequestState } from './request.js'

interface AuditHooks {
  onSend: onSendHookHandler<unknown>
  onResponse: onResponseHookHandler
}

/** Returns the hooks that report a request once, after its response. */
export function auditHooks (auditor: Auditor): AuditHooks {
  function report (request: FastifyRequest, reply: FastifyReply): void {
    const state = findState(request)
    if (state?.isAudited === true) return
    if (state !== null) state.isAudited = true
    auditor.report(describe(request, state, reply.statusCode), () => logOf(request))
  }

  return {
    onSend (request, reply, _payload, done) {
      // If the client has closed the connection, there is no response and `onResponse` does not run.
      if (reply.raw.destroyed) report(request, reply)
      else if (findState(request) !== null) {
        const end = auditor.expect()
        reply.raw.once('close', () => {
          report(request, reply)
          end()
        })
      }
      done()
    },
    onResponse (request, reply, done) {
      report(request, reply)
      done()
    }
  }
}

function describe (request: FastifyRequest, state: RequestState | null, status: number): UndatedEntry {
  const { keyId = null, actor = null, tenantId = null } = state?.access?.caller ?? state?.stranger ?? {}
  const isShown = status < 300 && request.method !== 'HEAD'
  return {
    source: 'request',
    requestId: state?.id ?? '',
    tenantSlug: readTenantSlug(request),
    tenantId,
    address: parseClientAddress(request.ip),
    keyId,
    actor,
    operationId: state?.operationId ?? operationIdOf(request.routeOptions.schema),
    isDeprecated: request.routeOptions.config.deprecated !== undefined,
    isRepeated: state?.isRepeated ?? false,
    resource: state?.resource ?? null,
    method: request.method,
    filters: state?.access ? listFilters(request) : [],
    status,
    rowCount: isShown ? state?.rowCount ?? null : null
  }
}

/** Records what the route's handler reads or changes, for the request's audit entry. */
export function createAuditRecorder (route: RouteOptions) {
  const readResource = createResourceReader(route)
  return {
    before (request: FastifyRequest, state: RequestState): void {
      state.resource = readResource(request, null)
    },
    after (request: FastifyRequest, state: RequestState, payload: unknown): void {
      state.rowCount = countRows(payload)
      const resource = state.resource ?? readResource(request, payload)
      state.resource = resource && withCreator(resource, readField(payload, 'data'))
    }
  }
}

/**
 * Returns a reader of the record that a request is about. Its id is the last path parameter or, if that is the tenant,
 * in the response.
 */
function createResourceReader (
  { url, config: { resource: kind } = {} }: RouteOptions
): (request: FastifyRequest, payload: unknown) => AuditedResource | null {
  if (kind === undefined) return () => null
  const parameter = url.replace(/^.*:(\w+).*$/, '$1')
  const isInPath = parameter !== 'tenant_slug'
  return ({ params }, payload) => {
    const id: unknown = isInPath ? readField(params, parameter) : readField(readField(payload, 'data'), 'id')
    return typeof id === 'string' || typeof id === 'number' ? { kind, id } : null
  }
}

/** Lists only filters that the operation has: the name of any other parameter can contain any text. */
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
