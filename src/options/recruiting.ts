import type { AuditListener } from '../observe/audit.js'
import type { OpenTelemetryApi } from '../observe/tracing.js'
import type { PortalSettings } from '../portal/settings.js'
import type { EventStorage, IdKinds } from '../ports/index.js'
import { limit } from '../shared/cached.js'
import { expect } from '../shared/expect.js'
import { readIds } from '../shared/ids.js'
import { flag, integer, optionalFunction, type Readers } from '../shared/read-options.js'
import type { TenantIdLookup } from '../shared/tenants.js'
import type { DefaultEvents, EventCatalogue } from '../webhooks/events/catalogue.js'
import { type LimitedTenant, maxWebhooks } from '../webhooks/operations/management.js'
import type { EngineSettings } from '../webhooks/settings.js'
import { type DeliveryOptions, readDelivery } from './delivery.js'
import { type PortalOptions, readPortal } from './portal.js'
import { readKeys, readPublicUrl } from './readers.js'
import { readEvents } from './schemas.js'
import { readEventStorage } from './storage.js'

/** The options of `createRecruiting`, which the plugin takes as well. */
export type RecruitingOptions<Events extends EventCatalogue = EventCatalogue> = EngineOptions & OptionalDefault<Events>

interface EventsOption<Events extends EventCatalogue> {
  /**
   * The events this host emits: from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to the TypeBox
   * objects (0.34 or 1.x) of their `data`. In TypeScript, the plugin takes the catalogue that `Register` names.
   * @default defaultEvents
   */
  events: Events
}

/** Required if `Register` names a catalogue: otherwise `emit` would refuse events that compile. */
export type OptionalDefault<Events extends EventCatalogue> = DefaultEvents extends Events ? Partial<EventsOption<Events>> : EventsOption<Events>

export interface EngineOptions {
  /** The storage of webhooks and deliveries. */
  storage: EventStorage
  /**
   * Which ids are text, such as uuids: `candidate`, `job`, `source` (`source_id` of a candidate) and `recruiter`
   * (`filter[recruiter_id]`), each `'integer'` or `'string'`. Text ids have 1 to 64 visible ASCII characters without `/`.
   * @default all are 'integer'
   */
  ids?: Partial<IdKinds>
  /**
   * Returns your own id of a tenant, which never changes: text of 1 to 200 characters, or an integer; `null` if there is no
   * such tenant. Everything stored then belongs to the id, so a tenant can be renamed, and a slug can change hands. Called
   * for each request and each call with a `tenantSlug`. It must answer within 5 seconds: cache slow lookups.
   * @default the slug is the id
   */
  tenantId?: TenantIdLookup
  /**
   * Webhooks a tenant may have, 1 to 10,000, or a function that returns this number for `{ tenantSlug, tenantId }`, such as the
   * limit of its plan. Its result counts for a minute. If it throws, returns anything else or takes longer than 5 seconds, no
   * webhook is created and the request gets 500. A lower limit deletes no webhooks.
   * @default 50
   */
  maxWebhooksPerTenant?: number | ((tenant: LimitedTenant) => number | Promise<number>)
  /**
   * The longest body of an event, the JSON that is sent, in bytes of UTF-8: 1,024 to 16,777,216. `emit` refuses longer ones.
   * @default 262144
   */
  maxEventBytes?: number
  /**
   * Whether `emit` refuses events without a subject, so that data about people can always be found and erased.
   * @default false
   */
  requireSubject?: boolean
  /**
   * How long changes of candidates and jobs are kept for `sync`, in days, 1 to 3650. Clients that sync less often get 410 and
   * start again.
   * @default 90
   */
  changesRetentionDays?: number
  /**
   * Keys of 32 bytes that seal webhook secrets and headers (AES-256-GCM) before they reach the storage: the first seals, all of them
   * open. Without keys, secrets are stored in plain text. To change the key, begin with `[oldKey, newKey]` in every process.
   * @default []
   */
  secretKeys?: readonly Uint8Array[]
  /**
   * OpenTelemetry: `import * as opentelemetry from '@opentelemetry/api'`. Emits and attempts then have spans. An attempt
   * belongs to the trace of its emit, even in another process. Requests set attributes on the active span, which an
   * instrumentation such as `@opentelemetry/instrumentation-http` creates.
   * @default no spans
   */
  opentelemetry?: OpenTelemetryApi
  /**
   * Called with an `AuditEntry` after each response below `{prefix}/:tenant_slug`, and after each call from code that reads or changes
   * webhooks, erases or finds a subject, or renames or removes a tenant.
   * @default none
   */
  onAudit?: AuditListener
  /**
   * Settings of deliveries; `false` is short for `{ worker: false }`.
   * @default {}
   */
  delivery?: DeliveryOptions | false
  /**
   * A page at `{prefix}/portal/` where a tenant's team manages its webhooks, and `portal.createSession`, which creates
   * sessions for the team. `createRecruiting` has only the latter.
   * @default none
   */
  portal?: PortalOptions
  /**
   * The address of the server as clients know it, such as `https://api.example.com`, without query and fragment. If a proxy
   * removes a prefix of the path, include it: `https://example.com/ats`. `Link`, `Location`, the URLs of portal
   * sessions and the `servers` of the document begin with it.
   * @default none: these are paths, as the server sees them
   */
  publicUrl?: string
}

/** The settings of the engine and the portal. */
export interface RecruitingSettings extends EngineSettings {
  portal: PortalSettings | null
  publicUrl: string
}

/** The default and the check of each option. */
export const recruitingReaders: Readers<RecruitingSettings> = {
  storage: readEventStorage,
  events: readEvents,
  ids: readIds,
  tenantId: optionalFunction(),
  maxWebhooksPerTenant: limit(1, maxWebhooks, 50),
  maxEventBytes: integer(1024, 16_777_216, 262_144),
  requireSubject: flag(false),
  changesRetentionDays: integer(1, 3650, 90),
  secretKeys: (value = [], path) => readKeys(value, path),
  opentelemetry: readOpenTelemetry,
  onAudit: optionalFunction(),
  delivery: readDelivery,
  portal: readPortal,
  publicUrl: readPublicUrl
} satisfies Readers<Pick<RecruitingSettings, keyof RecruitingOptions>>

function readOpenTelemetry (value: unknown = null, path: string): OpenTelemetryApi | null {
  const api = value as OpenTelemetryApi | null
  expect(api === null || typeof api.trace?.getTracer === 'function', path, 'the module @opentelemetry/api', value)
  return api
}
