import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { KeyLookup } from '../ports/index.js'
import type { Limit } from '../shared/cached.js'
import type { HostRoutes } from './host-routes.js'

/** The settings of the public API: checked options, with every default in place. */
export interface HttpSettings {
  keyLookup: KeyLookup
  prefix: string
  /** Precedes every path in responses; may be empty. */
  publicUrl: string
  candidateFields: TObject
  jobFields: TObject
  errorDetails: boolean
  requestId: ((request: FastifyRequest) => string) | null
  openapi: OpenApiSettings | null
  rateLimit: RateLimitSettings | null
  routes: HostRoutes | null
}

/** The part of the document about the vendor. */
export interface OpenApiSettings {
  info: object
  /** `null` for the one server that the API knows of. */
  servers: readonly object[] | null
  inHostDocument: boolean
}

/** Who sends a request that counts against a limit. */
export interface RateLimitCaller {
  /** The slug in the path. */
  tenantSlug: string
  /** The id of the tenant; without the option `tenantId` it is the slug. */
  tenantId: string
  /** The id that the key lookup returned; `null` for a session of the portal. */
  keyId: string | null
  /** The scopes of the key or the session. */
  scopes: readonly string[]
}

/** A number of requests per time window, in milliseconds. */
export interface RateLimitBudgetSettings<Max = Limit<RateLimitCaller>> {
  max: Max
  timeWindow: number
}

/** The budgets, and the store that `@fastify/rate-limit` counts in. */
export interface RateLimitSettings extends RateLimitBudgetSettings {
  perTenant: boolean
  operations: Record<string, RateLimitBudgetSettings>
  failedKeys: RateLimitBudgetSettings<number> | false
  redis?: { defineCommand: unknown }
  nameSpace: string
  store?: { prototype: { incr: unknown } }
  cache: number
  skipOnError: boolean
}
