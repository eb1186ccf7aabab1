import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { KeyLookup } from '../ports/index.js'
import type { AuditListener } from './audit.js'
import type { HostRoutes } from './host-routes.js'

/** The settings of the public API: checked options, with every default in place. */
export interface HttpSettings {
  keyLookup: KeyLookup
  prefix: string
  candidateFields: TObject
  jobFields: TObject
  errorDetails: boolean
  requestId: ((request: FastifyRequest) => string) | null
  openapi: OpenApiSettings | null
  rateLimit: RateLimitSettings | null
  routes: HostRoutes | null
  onAudit: AuditListener | null
}

/** The part of the document about the vendor. */
export interface OpenApiSettings {
  info: object
  servers: readonly object[]
  inHostDocument: boolean
}

/** A number of requests per time window, in milliseconds. */
export interface RateLimitBudgetSettings {
  max: number
  timeWindow: number
}

/** The budgets, and the store that `@fastify/rate-limit` counts in. */
export interface RateLimitSettings extends RateLimitBudgetSettings {
  operations: Record<string, RateLimitBudgetSettings>
  failedKeys: RateLimitBudgetSettings | false
  redis?: { defineCommand: unknown }
  nameSpace: string
  store?: { prototype: { incr: unknown } }
  cache: number
  skipOnError: boolean
}
