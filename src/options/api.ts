import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { AuditListener } from '../http/audit.js'
import type { HostRoutes } from '../http/host-routes.js'
import type { HttpSettings } from '../http/settings.js'
import type { AnyRecruitingStorage, Id, KeyLookup, RecruitingStorage } from '../ports/index.js'
import { expect } from '../shared/expect.js'
import { type Readers, flag, optional, optionalFunction, readOptions } from '../shared/read-options.js'
import type { EventCatalogue } from '../webhooks/events/catalogue.js'
import type { RegisteredEvents } from '../webhooks/recruiting.js'
import { type OpenApiOptions, readOpenApi } from './openapi.js'
import { type RateLimitOptions, readRateLimit } from './rate-limit.js'
import { type EngineOptions, type OptionalDefault, type RecruitingOptions, type RecruitingSettings, recruitingReaders } from './recruiting.js'
import { fields } from './schemas.js'
import { readStorage } from './storage.js'

/** The options of the plugin. */
export type RecruitingApiOptions<Events extends EventCatalogue = RegisteredEvents> = ApiOptions & OptionalDefault<Events>

export interface ApiOptions extends EngineOptions {
  /** Keeps everything, candidates and jobs included. */
  storage: AnyRecruitingStorage
  /** Finds the owner of an API key. */
  keyLookup: KeyLookup
  /**
   * The path of the public API; each tenant's is at `{prefix}/:tenant_slug`.
   * @default '/api/v1/public'
   */
  prefix?: string
  /**
   * More fields of a candidate to publish. The storage's rows must have them.
   * @default none
   */
  candidateFields?: TObject
  /**
   * More fields of a job to publish. The storage's rows must have them.
   * @default none
   */
  jobFields?: TObject
  /**
   * Adds `error.details` to a 400: which field was wrong, and why.
   * @default false
   */
  errorDetails?: boolean
  /**
   * Returns the id of a request: 1 to 200 visible ASCII characters, without spaces.
   * @default `req_` and 32 random hexadecimal digits
   */
  requestId?: (request: FastifyRequest) => string
  /**
   * Serves the OpenAPI document at `{prefix}/openapi.json`, without a key. An object sets its texts.
   * @default true
   */
  openapi?: boolean | OpenApiOptions
  /**
   * Limits the requests of each key. Needs the package `@fastify/rate-limit`. `true` is short for `{}`.
   * @default false
   */
  rateLimit?: boolean | RateLimitOptions
  /**
   * The host's own operations below `{prefix}/:tenant_slug`, with the same key check, errors, request ids and validation,
   * and a place in the document.
   * @default none
   */
  routes?: HostRoutes
  /**
   * Called with an `AuditEntry` after each answer below `{prefix}/:tenant_slug`.
   * @default none
   */
  onAudit?: AuditListener
}

/** The default and the check of each option that only the plugin uses. */
const httpReaders: Readers<HttpSettings> = {
  keyLookup: readKeyLookup,
  prefix: readPrefix,
  candidateFields: fields('id', 'full_name', 'headline', 'source_id'),
  jobFields: fields('id', 'name', 'status'),
  errorDetails: flag(false),
  requestId: optionalFunction(),
  openapi: readOpenApi,
  rateLimit: readRateLimit,
  routes: optionalFunction('a Fastify plugin'),
  onAudit: optionalFunction()
} satisfies Readers<Pick<HttpSettings, Exclude<keyof ApiOptions, keyof EngineOptions>>>

/** The settings of the plugin. */
export interface ApiSettings extends RecruitingSettings, HttpSettings {
  storage: RecruitingStorage<Id, Id, Id, Id>
}

/** The settings of `createRecruiting`, which knows the paths of the API. */
export interface StandaloneSettings extends RecruitingSettings, Pick<HttpSettings, 'prefix'> {}

/** Checks the options of the plugin. Throws `invalid_option`. */
export function readApiOptions (options: RecruitingApiOptions): ApiSettings {
  const { logger } = options as { logger?: unknown }
  expect(logger === undefined, 'logger', 'none, because the plugin logs with app.log', logger)
  // Fastify's `register` takes two options of its own.
  const readers = { ...recruitingReaders, ...httpReaders, storage: readStorage, logLevel: ignore, logSerializers: ignore }
  return readOptions<ApiSettings>(options, readers)
}

/** Checks the options of `createRecruiting`, which may be those of the plugin. Throws `invalid_option`. */
export function readRecruitingOptions (options: RecruitingOptions): StandaloneSettings {
  const readers = { ...recruitingReaders, ...httpReaders, keyLookup: optional(readKeyLookup), logger: ignore }
  return readOptions<StandaloneSettings>(options, readers)
}

function ignore (): void {}

function readKeyLookup (value: unknown, path: string): KeyLookup {
  expect(typeof value === 'function', path, 'a function', value)
  return value as KeyLookup
}

function readPrefix (value: unknown = '/api/v1/public', path: string): string {
  expect(typeof value === 'string' && /^(\/[A-Za-z0-9\-._~]+)+$/.test(value), path, 'a path such as /api/v1/public', value)
  return value
}
