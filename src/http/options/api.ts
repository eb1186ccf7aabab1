import type { FastifyRequest } from 'fastify'
import type { KeyLookup } from '../../ports/index.js'
import { assertOption, type OptionsOf, type SettingsOf, callable, flag, orNull } from '../../shared/read-options.js'
import type { HostRoutes } from '../host-routes.js'
import { fields } from './fields.js'
import { readOpenApi } from './openapi.js'
import { readRateLimit } from './rate-limit.js'

/** The doc, type, default and check of each option. */
export const httpOptions = {
  /**
   * The path of the public API; each tenant's is at `{prefix}/:tenant_slug`.
   * @default '/api/v1/public'
   */
  prefix: readPrefix,
  /**
   * More fields of a candidate to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * @default none
   */
  candidateFields: fields('id', 'full_name', 'headline', 'source_id'),
  /**
   * More fields of a job to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * @default none
   */
  jobFields: fields('id', 'name', 'status'),
  /**
   * Adds `error.details` to a 400: which field was wrong, and why.
   * @default false
   */
  errorDetails: flag(false),
  /**
   * Returns the id of a request: 1 to 200 visible ASCII characters, without spaces.
   * @default `req_` and 32 random hexadecimal digits
   */
  requestId: orNull(callable<(request: FastifyRequest) => string>()),
  /**
   * Serves the OpenAPI document at `{prefix}/openapi.json`, without a key. An object sets its texts.
   * @default true
   */
  openapi: readOpenApi,
  /**
   * Limits the requests of each key. Needs the package `@fastify/rate-limit`. `true` is short for `{}`.
   * @default false
   */
  rateLimit: readRateLimit,
  /**
   * Your own operations below `{prefix}/:tenant_slug`, with the same key check, errors, request ids and validation,
   * and a place in the document.
   * @default none
   */
  routes: readRoutes
}

/** The options of the public API. */
export interface HttpOptions extends OptionsOf<typeof httpOptions> {
  /** Finds the owner of an API key. */
  keyLookup: KeyLookup
}

/** The settings of the public API: checked options with their defaults. */
export interface HttpSettings extends SettingsOf<typeof httpOptions> {
  keyLookup: KeyLookup
  /** Precedes every path in responses; may be empty. */
  publicUrl: string
}

function readPrefix (value = '/api/v1/public', path: string): string {
  assertOption(
    typeof value === 'string' && /^(\/[A-Za-z0-9\-._~]+)+$/.test(value),
    path,
    'a path such as /api/v1/public',
    value
  )
  return value
}

function readRoutes (routes: HostRoutes | null = null, path: string): HostRoutes | null {
  assertOption(routes === null || typeof routes === 'function', path, 'a Fastify plugin', routes)
  return routes
}
