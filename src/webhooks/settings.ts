import type { OpenTelemetryApi } from '../observe/tracing.js'
import type { Clock, DisableRule, EventStorage, IdKinds } from '../ports/index.js'
import type { EventCatalogue } from './events/catalogue.js'
import type { Route } from './sending/sender.js'

/** The settings of the engine: checked options with their defaults. */
export interface EngineSettings {
  storage: EventStorage
  events: EventCatalogue
  ids: IdKinds
  maxWebhooksPerTenant: number
  maxEventBytes: number
  changesRetentionDays: number
  secretKeys: readonly Uint8Array[]
  opentelemetry: OpenTelemetryApi | null
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
  disableAfter: DisableRule
  responseExcerptBytes: number
  retentionDays: number
  clock: Clock
}
