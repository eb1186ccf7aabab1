import type { FastifyRequest } from 'fastify'
import type { TObject } from '@sinclair/typebox'
import type { KeyLookup } from '../ports/index.js'
import type { FieldUses } from '../api/rows.js'
import { assertHostSchema } from '../shared/ajv.js'
import { mapValues, readField } from '../shared/fields.js'
import {
  type OptionsOf, type Reader, type SettingsOf, assertObject, assertOption, callable, checked, choice, flag, integer,
  isWithin, limit, list, matching, optional, orNull, properties, readOptions, switchable, text
} from '../shared/read-options.js'
import { type TypeBoxObject, Type } from '../shared/typebox.js'
import type { RecruitingRoutes } from './host-routes.js'

/** OpenAPI's Contact Object. */
const contact: Reader<object, { name?: string, url?: string, email?: string }> =
  properties({ name: optional(text), url: optional(text), email: optional(text) })

/** OpenAPI's License Object. */
const license: Reader<object, { name: string, identifier?: string, url?: string }> =
  properties({ name: text, identifier: optional(text), url: optional(text) })

const infoOptions = {
  /** The name of the API. @default `Recruiting API` */
  title: optional(text),
  /** The version of the document. @default `v1` */
  version: optional(text),
  /** A description of the API, in Markdown. @default a text about the API */
  description: optional(text),
  /** The URL of the terms of service. */
  termsOfService: optional(text),
  /**
   * The contact: `name`, `url` and `email`, each optional. @default { name: 'The vendor of your applicant tracking
   * system' }
   */
  contact: optional(contact),
  /** The license of the API, not of this package: a `name`, with an SPDX `identifier` or a `url`. */
  license: optional(license)
}

/** Information about the API, its vendor and its terms. */
export interface OpenApiInfo extends OptionsOf<typeof infoOptions> {}

const info: Reader<object, OpenApiInfo> = properties(infoOptions)

/** An address of the API. */
export interface OpenApiServer {
  /** The server's URL, with the prefixes of the host: the document's paths are relative to it. */
  url: string
  /** A name for the server, such as `Production`. */
  description?: string
}

const server: Reader<object, OpenApiServer> = properties({ url: text, description: optional(text) })

const openApiOptions = {
  /** OpenAPI's Info Object. Absent fields keep their default. */
  info: (value: OpenApiInfo = {}, path: string) => info(value, path),
  /**
   * The addresses of the API, such as `{ url: 'https://api.example.com' }`; at least one.
   * @default `publicUrl`, otherwise the server that serves the document
   */
  servers: list(server, 'an array of at least one server', { minimum: 1 }),
  /**
   * Whether the API's paths are also in the document that `@fastify/swagger` creates for the host.
   * @default false
   */
  inHostDocument: flag(false)
}

/** The option `openapi`: texts about the vendor that replace the document's defaults. */
export interface OpenApiOptions extends OptionsOf<typeof openApiOptions> {}

/** The settings of the document. */
export interface OpenApiSettings extends SettingsOf<typeof openApiOptions> {}

/** Returns the settings of the document, `null` if it is not served. Throws `invalid_option`. */
export const readOpenApi: Reader<OpenApiSettings | null, boolean | OpenApiOptions> = switchable(openApiOptions, true)

/** Maximum number of requests in a window. */
export const maxRequests = 1_000_000_000

/** Default number of requests per key and window. */
export const defaultRequests = 1000

const redisClient = checked<{ defineCommand: unknown }>(
  (redis) => typeof readField(redis, 'defineCommand') === 'function',
  'a client such as ioredis'
)

const storeClass = checked<{ prototype: { incr: unknown } }>(
  (store) => typeof readField(readField(store, 'prototype'), 'incr') === 'function',
  'a class with the method incr'
)

function readTimeWindow (value: number | string = 60_000, path: string): number {
  const timeWindowMs = typeof value === 'string' ? parseTime(value) : value
  const isTime = isWithin(timeWindowMs, 1000, 86_400_000)
  assertOption(isTime, path, 'milliseconds from 1000 to 86400000, or text such as 1 minute', value)
  return timeWindowMs
}

const units: ReadonlyArray<[form: RegExp, ms: number]> = [
  [/^(?:(?:ms|msec|millisecond)s?)?$/, 1],
  [/^(?:s|sec|second)s?$/, 1000],
  [/^(?:m|min|minute)s?$/, 60_000],
  [/^(?:h|hr|hour)s?$/, 3_600_000],
  [/^(?:d|day)s?$/, 86_400_000]
]

/**
 * Parses text into milliseconds, as `@fastify/rate-limit` does. Returns `NaN` for malformed text, which there would
 * disable the limit.
 */
function parseTime (text: string): number {
  const [, amount, unit = ''] = /^(\d*\.?\d+) *([a-z]*)$/.exec(text.toLowerCase()) ?? []
  const [, unitMs] = units.find(([form]) => form.test(unit)) ?? []
  return Number(amount) * Number(unitMs)
}

/** Who sends a request that counts against a limit. */
export interface RateLimitCaller {
  /** The slug in the path. */
  tenantSlug: string
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** The id that the key lookup returned; `null` for a portal session. */
  keyId: string | null
  /** The scopes of the key or the session. */
  scopes: readonly string[]
}

const budgetOptions = {
  /**
   * Maximum number of requests, 1 to 1,000,000,000, or a function that returns it for a `RateLimitCaller`, such as the
   * limit of the tenant's plan. The result is cached for a minute. If it throws, returns anything else or takes longer
   * than 5 seconds, the request gets 500. The `max` of `failedKeys` is a number.
   * @default 1000 for a key, 10 for an operation, 20 for failed keys
   */
  max: limit<RateLimitCaller>(1, maxRequests, defaultRequests),
  /**
   * The window, after which the count restarts: milliseconds, 1,000 to 86,400,000, or text such as `1 minute`.
   * @default 60000
   */
  timeWindow: readTimeWindow
}

/** Maximum number of requests in a time window. */
export interface RateLimitBudget extends OptionsOf<typeof budgetOptions> {}

const operationOptions = { ...budgetOptions, max: limit<RateLimitCaller>(1, maxRequests, 10) }

const failedKeysOptions = { ...budgetOptions, max: integer(1, maxRequests, 20) }

/** The budget of invalid keys. */
interface FailedKeysBudget extends OptionsOf<typeof failedKeysOptions> {}

const limitOptions = {
  /**
   * Counts all keys of a tenant together, in each budget. Portal sessions still count by actor. If customers can create
   * keys, each key would otherwise add a budget.
   * @default true if customers can manage keys, otherwise false
   */
  perTenant: optional(flag(false)),
  /**
   * Operations with a separate budget for each key, by `operationId`.
   * @default { dispatchWebhookTest: { max: 10 }, replayWebhook: { max: 10 } }
   */
  operations: readOperations,
  /**
   * Invalid keys allowed per address and window. After that, requests with a key that was not recently valid get 429.
   * An IPv6 address counts as its /64; requests without an address count together. Behind a proxy, name the proxy in
   * `trustProxy`: otherwise all callers share the proxy's address. With `trustProxy: true`, callers choose their
   * address.
   * @default { max: 20 }
   */
  failedKeys: readFailedKeys,
  /** An ioredis client, so that several machines share their counts. The host closes it. */
  redis: optional(redisClient),
  /**
   * The prefix of keys in Redis.
   * @default 'recruiting-rate-limit-'
   */
  nameSpace: checked<string>((value) => typeof value === 'string', 'a string', 'recruiting-rate-limit-'),
  /** A store class for `@fastify/rate-limit`, instead of memory and Redis. */
  store: optional(storeClass),
  /**
   * Keys and addresses remembered in memory per budget, 1 to 10,000,000.
   * @default 5000
   */
  cache: integer(1, 10_000_000, 5000),
  /**
   * Lets requests pass uncounted while the store fails. Otherwise they get 500.
   * @default false
   */
  skipOnError: flag(false)
}

/**
 * Request limits, through `@fastify/rate-limit`: a budget per key, and the store of the counts. Requests for the
 * document, which need no key, have the same budget per address, or the default if `max` is a function.
 */
export interface RateLimitOptions extends RateLimitBudget, OptionsOf<typeof limitOptions> {}

/** The settings of the limits. */
export interface RateLimitSettings extends SettingsOf<typeof budgetOptions>, SettingsOf<typeof limitOptions> {}

/** Returns the settings of the limits; `null` without limits. Throws `invalid_option`. */
export const readRateLimit: Reader<RateLimitSettings | null, boolean | RateLimitOptions> = switchable(
  { ...budgetOptions, ...limitOptions },
  false
)

function readOperations (
  value: Record<string, RateLimitBudget> = {},
  path: string
): Record<string, SettingsOf<typeof operationOptions>> {
  assertObject(value, path)
  const budgets = { dispatchWebhookTest: {}, replayWebhook: {}, ...value }
  return mapValues(budgets, (budget, id) => readOptions(budget, operationOptions, `${path}.${id}`))
}

function readFailedKeys (
  value: FailedKeysBudget | false = {},
  path: string
): SettingsOf<typeof failedKeysOptions> | false {
  return value === false ? false : readOptions(value, failedKeysOptions, path)
}

/** Reads additional fields of a resource that already publishes the fields `taken`. */
function fields (...taken: readonly string[]): Reader<TObject, TypeBoxObject> {
  return (value, path) => {
    if (value === undefined) return Type.Object({})
    assertHostSchema(value, path)
    for (const name of Object.keys(value.properties)) {
      assertOption(!taken.includes(name), `${path}.${name}`, 'a field that is not already published', name)
    }
    return value
  }
}

const fieldUses = list(choice(['equals', 'after', 'sort']), "an array of 'equals', 'after' or 'sort'", { minimum: 1 })

function readFieldUses (value: FieldUses = {}, path: string): FieldUses {
  assertObject(value, path, 'an object with the names of fields')
  return mapValues(value, (uses, name) => {
    const read = fieldUses(uses, `${path}.${name}`)
    assertOption(new Set(read).size === read.length, `${path}.${name}`, 'different entries', read.join())
    return read
  })
}

export const httpOptions = {
  /**
   * The path of the public API; each tenant's API is at `{prefix}/:tenant_slug`.
   * @default '/api/v1/public'
   */
  prefix: matching((text) => /^(\/[A-Za-z0-9\-._~]+)+$/.test(text), 'a path such as /api/v1/public', '/api/v1/public'),
  /**
   * More fields of a candidate to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * A request whose rows do not fit the schema gets 500, and the log names the field.
   * @default none
   */
  candidateFields: fields('id', 'full_name', 'headline', 'source_id'),
  /**
   * More fields of a job to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * A request whose rows do not fit the schema gets 500, and the log names the field.
   * @default none
   */
  jobFields: fields('id', 'name', 'status'),
  /**
   * What clients can do with fields of `candidateFields`, such as `{ email: ['equals'], started_at: ['after', 'sort']
   * }`: `equals` adds `filter[email]`, `after` adds `filter[started_after]`, and `sort` adds the field to the parameter
   * `sort`. The fields are text, integers, booleans or date-times; `after` is only for date-times, and `sort` only for
   * fields that are required and never null. Text is compared exactly. The storage needs an index for each.
   * @default none
   */
  candidateFilters: readFieldUses,
  /**
   * The same for fields of `jobFields`.
   * @default none
   */
  jobFilters: readFieldUses,
  /**
   * Adds `error.details` to a 400: the invalid fields, and why.
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
   * Limits the requests per key. Needs the package `@fastify/rate-limit`. `true` is short for `{}`.
   * @default false
   */
  rateLimit: readRateLimit,
  /**
   * Your own operations below `{prefix}/:tenant_slug`, with the same key check, errors, request ids and validation. The
   * document lists them too.
   * @default none
   */
  routes: orNull(callable<RecruitingRoutes>('a Fastify plugin'))
}

/** The options of the public API. */
export interface HttpOptions extends OptionsOf<typeof httpOptions> {
  /** Finds the owner of an API key. */
  keyLookup: KeyLookup
}

/** The settings of the public API. */
export interface HttpSettings extends SettingsOf<typeof httpOptions> {
  keyLookup: KeyLookup
  /** Precedes every path in responses; can be empty. */
  publicUrl: string
}
