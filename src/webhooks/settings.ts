import type { AuditListener } from '../observe/audit.js'
import type { OpenTelemetryApi } from '../observe/tracing.js'
import type { Clock, DisableRule, EventStorage, IdKinds } from '../ports/index.js'
import type { TenantIdLookup } from '../shared/tenants.js'
import type { Limit } from '../shared/cached.js'
import type { EventSchemas } from './events/catalogue.js'
import type { LimitedTenant } from './operations/management.js'
import type { Route } from './sending/sender.js'

/** The settings of the engine: checked options with their defaults. */
export interface EngineSettings {
  storage: EventStorage
  events: EventSchemas
  ids: IdKinds
  maxWebhooksPerTenant: Limit<LimitedTenant>
  maxEventBytes: number
  requireSubject: boolean
  changesRetentionDays: number
  tenantId: TenantIdLookup | null
  secretKeys: readonly Uint8Array[]
  opentelemetry: OpenTelemetryApi | null
  onAudit: AuditListener | null
  delivery: DeliverySettings
}

export interface DeliverySettings extends Route {
  worker: boolean
  concurrency: number
  perEndpoint: number
  timeoutMs: number
  leaseMs: number
  retrySchedule: readonly number[]
  pollMs: number
  closeGraceMs: number
  allowHttp: boolean
  allowNetworks: readonly string[]
  denyNetworks: readonly string[]
  /** Only shown. */
  sourceIps: readonly string[]
  disableAfter: DisableRule
  responseExcerptBytes: number
  propagateTrace: boolean
  retentionDays: number
  environment: string | null
  clock: Clock
}
