import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AuditedResource } from '../observe/audit.js'
import type { ApiKey, Connections, Creator, Tenant } from '../ports/index.js'
import type { KeepAnswer } from '../shared/answers.js'
import type { PortalCapability } from './sessions.js'
import type { Followed } from './sync.js'

/** The published fields of each resource that a key can read besides `id`; `null` for all of them. */
export interface VisibleFields {
  readonly candidate: readonly string[] | null
  readonly job: readonly string[] | null
}

/** A request's caller: the owner of an API key, or the actor of a portal session. */
export interface ApiCaller {
  /** The slug in the path. */
  readonly tenantSlug: string
  /** The tenant's id when the key was checked; without the option `tenantId`, its slug. */
  readonly tenantId: string
  /** The id that the key lookup returned; `null` for a session. */
  readonly keyId: string | null
  /** The portal user; `null` for a key. */
  readonly actor: string | null
  /** The scopes of the key or the session. */
  readonly scopes: readonly string[]
  /** The published fields that the key can read; `null` for all. */
  readonly fields: VisibleFields | null
}

export interface Access {
  caller: ApiCaller
  /** The networks of the key; `null` without a limit. */
  allowedIps: readonly string[] | null
  /** The name and the end of the key; `null` for a session. */
  key: Required<Pick<ApiKey, 'name' | 'expiresAt'>> | null
  /** The capabilities of a session; `null` for a key, which only its scopes limit. */
  capabilities: readonly PortalCapability[] | null
}

/** The API's state of a request. */
export class RequestState {
  /** The id in `x-request-id`; empty if the host responded before it was set. */
  id = ''
  /** The slug in the path, even if host hooks change the parameters later. */
  readonly tenantSlug: string
  readonly server: ServerState
  /** `null` until the key was checked. */
  access: Access | null = null
  /** The owner of a valid key that is not allowed from the request's address, for the audit. */
  stranger: ApiCaller | null = null
  /** The parsed body; `undefined` if there is none. */
  body: unknown = undefined
  /** Whether query and body were read. */
  hasInput = false
  isHandling = false
  /** Serializes the response instead of the route's serializer. */
  serialize: ((payload: unknown) => string) | null = null
  /** The maximum size of stored events in the response; `null` for the storage's limit. */
  maxEventsBytes: number | null = null
  /**
   * For a reader of events that accepts gaps: the time from which it wants events. It gets `truncated` instead of an
   * error. `null` for all others.
   */
  resume: { since: string | null } | null = null
  /** Whether the response to HEAD was not written in full, so its length is unknown. */
  isShortened = false
  /** The record that the request is about, and the number of items in the response, for the audit. */
  resource: AuditedResource | null = null
  rowCount: number | null = null
  isAudited = false
  /**
   * Returns how the storage can store the response with the work. `respond` returns the response for the operation's
   * result. `null` unless the request has an `Idempotency-Key` and its operation is atomic.
   */
  keep: ((respond: (result: unknown) => unknown) => KeepAnswer) | null = null
  /** The operation, for the audit. @default that of the route */
  operationId: string | null = null
  /** Whether the response is that of an earlier request, for the audit. */
  isRepeated = false

  constructor (tenantSlug: string, server: ServerState) {
    this.tenantSlug = tenantSlug
    this.server = server
  }
}

/** The parts of the server that handlers need. */
export interface ServerState {
  /** Precedes every path in the response; can be empty. */
  publicUrl: string
  /** The storage's connections, whose places tenants share. */
  connections: Connections | undefined
  /** What clients follow with tokens. */
  followed: Followed
}

const kState = Symbol('state of a request of the API')

interface StatefulRequest extends FastifyRequest {
  [kState]?: RequestState | null
}

/** Prepares a scope's requests. Their property `recruiting` is the caller; `null` until the key was checked. */
export function decorateRequests (scope: FastifyInstance): void {
  const callerOf = (request: StatefulRequest) => (request[kState]?.access?.caller ?? null) as ApiCaller
  scope.decorateRequest(kState, null)
  if (!scope.hasRequestDecorator('recruiting')) {
    scope.decorateRequest('recruiting', { getter (this: StatefulRequest) { return callerOf(this) } })
    return
  }
  // The host has its own decorator with this name.
  scope.addHook('onRequest', (request, _reply, done) => {
    Object.defineProperty(request, 'recruiting', { get: () => callerOf(request), configurable: true })
    done()
  })
}

/** Returns the state of a request, which the first call creates. */
export function startState (request: StatefulRequest, server: ServerState): RequestState {
  request[kState] ??= new RequestState(slugInPath(request), server)
  return request[kState]
}

/** Returns the state of a request; `null` outside the API, and before the first step. */
export function findState (request: StatefulRequest): RequestState | null {
  return request[kState] ?? null
}

/** Returns the state of a request whose key was checked. */
export function stateOf (request: FastifyRequest): RequestState & { access: Access } {
  const state = findState(request)
  if (state?.access) return state as RequestState & { access: Access }
  throw new Error('the API key of the request was not checked')
}

export function readCaller (request: FastifyRequest): ApiCaller {
  return stateOf(request).access.caller
}

export function readCreator (request: FastifyRequest): Creator {
  const { keyId, actor } = readCaller(request)
  return actor === null ? { type: 'key', id: String(keyId).slice(0, 255) } : { type: 'session', id: actor }
}

/** Returns the tenant of a request, with the id from the key check. */
export function readTenant (request: FastifyRequest): Tenant {
  const { tenantSlug, tenantId } = readCaller(request)
  return { slug: tenantSlug, id: tenantId }
}

/** Returns the slug in the path; empty if there is none. */
export function readTenantSlug (request: FastifyRequest): string {
  return findState(request)?.tenantSlug ?? slugInPath(request)
}

function slugInPath ({ params }: FastifyRequest): string {
  const { tenant_slug: tenantSlug = '' } = params as { tenant_slug?: string }
  return tenantSlug
}

/** Returns whether the caller has a capability. Keys have all: capabilities only limit portal sessions. */
export function isCapable (request: FastifyRequest, capability: PortalCapability): boolean {
  const { capabilities } = stateOf(request).access
  return capabilities === null || capabilities.includes(capability)
}

const kAtomic = Symbol('the storage stores the answer with the work')

/** Added to the config of a route whose storage stores the answer with the work, if it gets one from `keep`. */
export const atomic: object = { [kAtomic]: true }

export function isAtomic (config: object): boolean {
  return Reflect.get(config, kAtomic) === true
}

/** Makes the API send this text as the response. The result of the handler is ignored. */
export function respondWith (request: FastifyRequest, text: string): void {
  stateOf(request).serialize = () => text
}

/** Makes the API send a handler's text unchanged. */
export function sendAsIs (request: FastifyRequest): void {
  stateOf(request).serialize = String
}

export const contentType = 'application/json; charset=utf-8'

export const commonHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
