import type { AuditListener } from '../../observe/audit.js'
import type { OpenTelemetryApi } from '../../observe/tracing.js'
import type { EventStorage } from '../../ports/index.js'
import { limit } from '../../shared/cached.js'
import {
  assertOption, type OptionsOf, type SettingsOf, callable, flag, integer, orNull, readKeys
} from '../../shared/read-options.js'
import { readIds } from '../../shared/ids.js'
import type { TenantIdLookup, TenantSlugLookup } from '../../shared/tenants.js'
import type { EventSchemas } from '../events/catalogue.js'
import { type LimitedTenant, maxWebhooks } from '../operations/management.js'
import { readDelivery } from './delivery.js'

/** The doc, type, default and check of each option. */
export const engineOptions = {
  /**
   * Which ids are text, such as uuids: `candidate`, `job`, `source` (`source_id` of a candidate) and `recruiter`
   * (`filter[recruiter_id]`), each `'integer'` or `'string'`. Text ids have 1 to 64 visible ASCII characters without
   * `/`.
   * @default all are 'integer'
   */
  ids: readIds,
  /**
   * Returns your own id of a tenant, which never changes: text of 1 to 200 characters, or an integer; `null` if there
   * is no such tenant. Everything stored then belongs to the id, so a tenant can be renamed, and a slug can change
   * hands. Called for each request and each call with a `tenantSlug`. It must answer within 5 seconds: cache slow
   * lookups.
   * @default the slug is the id
   */
  tenantId: orNull(callable<TenantIdLookup>()),
  /**
   * Returns the slug of a tenant by its id, the reverse of `tenantId`; `null` if you do not know it. Called for calls
   * with a `tenantId` that show the tenant's name: `emit` (`tenant_slug` in the body), new webhooks, tests and portal
   * sessions. The second argument is the `transaction` of the call, in which you can read the row of a tenant that it
   * creates. It must answer within 5 seconds.
   * @default the id as text
   */
  tenantSlug: orNull(callable<TenantSlugLookup>()),
  /**
   * Webhooks a tenant may have, 1 to 10,000, or a function that returns this number for `{ tenantSlug, tenantId }`,
   * such as the limit of its plan. Its result counts for a minute. If it throws, returns anything else or takes
   * longer than 5 seconds, no webhook is created and the request gets 500. A lower limit deletes no webhooks.
   * @default 50
   */
  maxWebhooksPerTenant: limit<LimitedTenant>(1, maxWebhooks, 50),
  /**
   * The longest body of an event, the JSON that is sent, in bytes of UTF-8: 1,024 to 16,777,216. `emit` refuses
   * longer ones.
   * @default 262144
   */
  maxEventBytes: integer(1024, 16_777_216, 262_144),
  /**
   * Whether `emit` refuses events without a subject, so that data about people can always be found and erased.
   * @default false
   */
  requireSubject: flag(false),
  /**
   * How long changes of candidates and jobs are kept for `sync`, in days, 1 to 3650. Clients that sync less often get
   * 410 and start again.
   * @default 90
   */
  changesRetentionDays: integer(1, 3650, 90),
  /**
   * Keys of 32 bytes that seal webhook secrets and headers (AES-256-GCM) before they reach the storage: the first
   * seals, all of them open. Without keys, secrets are stored in plain text. To change the key, begin with `[oldKey,
   * newKey]` in every process.
   * @default []
   */
  secretKeys: readSecretKeys,
  /**
   * OpenTelemetry: `import * as opentelemetry from '@opentelemetry/api'`. Emits and attempts then have spans. An
   * attempt belongs to the trace of its emit, even in another process. Requests set attributes on the active span,
   * which an instrumentation such as `@opentelemetry/instrumentation-http` creates.
   * @default no spans
   */
  opentelemetry: orNull(readOpenTelemetry),
  /**
   * Called with an `AuditEntry` after each response below `{prefix}/:tenant_slug`, and after each call from code that
   * reads or changes webhooks, erases or finds a subject, renames or removes a tenant, adopts a copy or reseals
   * secrets.
   * @default none
   */
  onAudit: orNull(callable<AuditListener>()),
  /**
   * Settings of deliveries; `false` is short for `{ worker: false }`.
   * @default {}
   */
  delivery: readDelivery
}

/** The options of the engine. */
export interface EngineOptions extends OptionsOf<typeof engineOptions> {
  /** The storage of webhooks and deliveries. */
  storage: EventStorage
}

/** The settings of the engine: checked options with their defaults. */
export interface EngineSettings extends SettingsOf<typeof engineOptions> {
  storage: EventStorage
  events: EventSchemas
}

function readSecretKeys (keys: readonly Uint8Array[] = [], path: string): readonly Uint8Array[] {
  return readKeys(keys, path)
}

function readOpenTelemetry (api: OpenTelemetryApi | undefined, path: string): OpenTelemetryApi {
  assertOption(typeof api?.trace?.getTracer === 'function', path, 'the module @opentelemetry/api', api)
  return api
}
