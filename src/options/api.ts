import type { FastifyRequest } from 'fastify'
import type { HostRoutes } from '../http/host-routes.js'
import type { HttpSettings } from '../http/settings.js'
import type { McpSettings } from '../mcp/settings.js'
import type { AnyRecruitingStorage, Id, KeyLookup, RecruitingStorage } from '../ports/index.js'
import { expect } from '../shared/expect.js'
import { flag, optional, optionalFunction, type Readers, readOptions } from '../shared/read-options.js'
import type { TypeBoxObject } from '../shared/typebox.js'
import type { EventCatalogue } from '../webhooks/events/catalogue.js'
import type { RegisteredEvents } from '../webhooks/recruiting.js'
import { type McpOptions, readMcp } from './mcp.js'
import { type OpenApiOptions, readOpenApi } from './openapi.js'
import { type RateLimitOptions, readRateLimit } from './rate-limit.js'
import {
  type EngineOptions, type OptionalDefault, type RecruitingOptions, recruitingReaders, type RecruitingSettings
} from './recruiting.js'
import { fields } from './schemas.js'
import { readStorage } from './storage.js'

/** The options of the plugin. */
export type RecruitingApiOptions<Events extends EventCatalogue = RegisteredEvents> = ApiOptions & OptionalDefault<Events>

interface ApiOptions extends EngineOptions {
  /** The storage of everything, including candidates and jobs. */
  storage: AnyRecruitingStorage
  /** Finds the owner of an API key. */
  keyLookup: KeyLookup
  /**
   * The path of the public API; each tenant's is at `{prefix}/:tenant_slug`.
   * @default '/api/v1/public'
   */
  prefix?: string
  /**
   * More fields of a candidate to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * @default none
   */
  candidateFields?: TypeBoxObject
  /**
   * More fields of a job to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * @default none
   */
  jobFields?: TypeBoxObject
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
   * Your own operations below `{prefix}/:tenant_slug`, with the same key check, errors, request ids and validation,
   * and a place in the document.
   * @default none
   */
  routes?: HostRoutes
  /**
   * Serves an MCP server for the agents of each tenant at `{prefix}/:tenant_slug/mcp`. Needs the package
   * `@modelcontextprotocol/server`. `true` is short for `{}`. Experimental: it follows the specification, and may change in
   * minor versions.
   * @default false
   */
  mcp?: boolean | McpOptions
}

/** The settings that only the plugin uses. */
interface PluginSettings extends HttpSettings {
  mcp: McpSettings | null
}

/** The default and the check of each option that only the plugin uses. */
const httpReaders: Readers<Omit<PluginSettings, keyof RecruitingSettings>> = {
  keyLookup: readKeyLookup,
  prefix: readPrefix,
  candidateFields: fields('id', 'full_name', 'headline', 'source_id'),
  jobFields: fields('id', 'name', 'status'),
  errorDetails: flag(false),
  requestId: optionalFunction(),
  openapi: readOpenApi,
  rateLimit: readRateLimit,
  routes: optionalFunction('a Fastify plugin'),
  mcp: readMcp
} satisfies Readers<Pick<PluginSettings, Exclude<keyof ApiOptions, keyof EngineOptions>>>

/** The settings of the plugin. */
interface ApiSettings extends RecruitingSettings, PluginSettings {
  storage: RecruitingStorage<Id, Id, Id, Id>
}

/** The settings of `createRecruiting`, which knows the addresses of the API. */
interface StandaloneSettings extends RecruitingSettings, Pick<HttpSettings, 'prefix'> {}

/** Checks the options of the plugin. Throws `invalid_option`. */
export function readApiOptions (options: RecruitingApiOptions): ApiSettings {
  const { logger } = options as { logger?: unknown }
  expect(logger === undefined, 'logger', 'none, because the plugin logs with app.log', logger)
  // Two options belong to Fastify's `register`.
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
