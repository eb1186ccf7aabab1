import type { EventStorage, IdKinds } from '../ports/index.js'
import type { PortalSettings } from '../portal/settings.js'
import { expect } from '../shared/expect.js'
import { readIds } from '../shared/ids.js'
import { type Readers, integer } from '../shared/read-options.js'
import type { OpenTelemetryApi } from '../observe/tracing.js'
import type { DefaultEvents, EventCatalogue } from '../webhooks/events/catalogue.js'
import type { EngineSettings } from '../webhooks/settings.js'
import { type DeliveryOptions, readDelivery } from './delivery.js'
import { readKeys } from './keys.js'
import { type PortalOptions, readPortal } from './portal.js'
import { readEvents } from './schemas.js'
import { readEventStorage } from './storage.js'

/** The options of `createRecruiting`, which the plugin takes as well. */
export type RecruitingOptions<Events extends EventCatalogue = EventCatalogue> = EngineOptions & OptionalDefault<Events>

interface EventsOption<Events extends EventCatalogue> {
  /**
   * The events this host emits: from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to the TypeBox
   * schemas of their `data`. In TypeScript, the plugin takes the catalogue that `Register` names.
   * @default defaultEvents
   */
  events: Events
}

/** A catalogue of its own is required where the types know one: otherwise `emit` would refuse events that compile. */
export type OptionalDefault<Events extends EventCatalogue> = DefaultEvents extends Events ? Partial<EventsOption<Events>> : EventsOption<Events>

export interface EngineOptions {
  /** Keeps webhooks and deliveries. */
  storage: EventStorage
  /**
   * Which ids are text, such as uuids: `candidate`, `job`, `source` (`source_id` of a candidate) and `recruiter`
   * (`filter[recruiter_id]`), each `'integer'` or `'string'`. Text ids have 1 to 64 visible ASCII characters without `/`.
   * @default all are 'integer'
   */
  ids?: Partial<IdKinds>
  /**
   * Webhooks a tenant may have, 1 to 10,000.
   * @default 50
   */
  maxWebhooksPerTenant?: number
  /**
   * The longest body of an event, the JSON that is sent, in bytes of UTF-8: 1,024 to 16,777,216. `emit` refuses longer ones.
   * @default 262144
   */
  maxEventBytes?: number
  /**
   * How long changes of candidates and jobs are kept for `sync`, in days, 1 to 3650. A client that stays away longer gets 410
   * and begins again.
   * @default 90
   */
  changesRetentionDays?: number
  /**
   * Keys of 32 bytes that seal webhook secrets (AES-256-GCM) before they reach the storage: the first seals, all of them
   * open. Without keys, secrets are stored as they are.
   * @default []
   */
  secretKeys?: readonly Uint8Array[]
  /**
   * OpenTelemetry: `import * as opentelemetry from '@opentelemetry/api'`. Emits and attempts then have spans. An attempt
   * belongs to the trace of its emit if the same process made both; otherwise its span carries the event's id. Requests set
   * attributes on the active span, which an instrumentation such as `@opentelemetry/instrumentation-http` makes.
   * @default no spans
   */
  opentelemetry?: OpenTelemetryApi
  /**
   * Settings of deliveries; `false` is short for `{ worker: false }`.
   * @default {}
   */
  delivery?: DeliveryOptions | false
  /**
   * A page for the people of a tenant, at `{prefix}/portal/`, on which they manage its webhooks, and `portal.createSession`,
   * which lets them in. `createRecruiting` has only the latter.
   * @default none
   */
  portal?: PortalOptions
}

/** The settings of the engine and the portal. */
export interface RecruitingSettings extends EngineSettings {
  portal: PortalSettings | null
}

/** The default and the check of each option. */
export const recruitingReaders: Readers<RecruitingSettings> = {
  storage: readEventStorage,
  events: readEvents,
  ids: readIds,
  maxWebhooksPerTenant: integer(1, 10_000, 50),
  maxEventBytes: integer(1024, 16_777_216, 262_144),
  changesRetentionDays: integer(1, 3650, 90),
  secretKeys: (value = [], path) => readKeys(value, path),
  opentelemetry: readOpenTelemetry,
  delivery: readDelivery,
  portal: readPortal
} satisfies Readers<Pick<RecruitingSettings, keyof RecruitingOptions>>

function readOpenTelemetry (value: unknown = null, path: string): OpenTelemetryApi | null {
  const api = value as OpenTelemetryApi | null
  expect(api === null || typeof api.trace?.getTracer === 'function', path, 'the module @opentelemetry/api', value)
  return api
}
