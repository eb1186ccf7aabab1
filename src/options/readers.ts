import { isIP } from 'node:net'
import type { TObject } from '@sinclair/typebox'
import { readField } from '../shared/fields.js'
import { parseCidr } from '../shared/networks.js'
import type { SecretFunctions, SecretKeys } from '../shared/sealing.js'
import { parseUrl } from '../shared/text.js'
import {
  type Reader, type Readers, assertKnownNames, assertObject, assertOption, checked, integer, isWithin, matching,
  readKeys, readOptions, rejectOption, text
} from '../shared/read-options.js'
import { contrastOf, lightenOn } from '../portal/theme.js'
import { readLocale } from '../portal/messages.js'
import type { AnyRecruitingStorage, EventStorage, Id, RecruitingStorage } from '../ports/index.js'
import type { OpenTelemetryApi } from '../observe/tracing.js'
import { type EventSchemas, defaultEvents } from '../webhooks/events/catalogue.js'
import { assertHostSchema, createAjv } from '../shared/ajv.js'
import { type TypeBoxObject, Type } from '../shared/typebox.js'
import type { HostRoutes } from '../http/host-routes.js'
import { findDeprecationFault } from '../shared/deprecation.js'
import type { HttpProxy } from '../webhooks/ssrf/proxy.js'

export const mcpUrl = matching(
  (text) => /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/.test(text) && parseUrl(text) !== null && !text.includes('#'),
  'a URL such as https://auth.example.com, without a fragment'
)

export const mcpOrigin = matching((text) => parseUrl(text)?.origin === text, 'an origin such as https://chat.example')

export const redisClient = checked<{ defineCommand: unknown }>(
  (redis) => typeof readField(redis, 'defineCommand') === 'function',
  'a client such as ioredis'
)

export const storeClass = checked<{ prototype: { incr: unknown } }>(
  (store) => typeof readField(readField(store, 'prototype'), 'incr') === 'function',
  'a class with the method incr'
)

export function readTimeWindow (value: number | string = 60_000, path: string): number {
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

const surfaces = { light: '#ffffff', dark: '#16181d' }

const minimumContrast = 4.5

const accentReaders = {
  light: (value, path) => readColour(value, path, 'light'),
  dark: (value, path) => readColour(value, path, 'dark')
} satisfies Readers<Record<keyof typeof surfaces, string>>

export function readAccent (
  value: string | { light: string; dark: string } | undefined,
  path: string
): { light: string; dark: string } {
  if (typeof value === 'string') {
    const light = readColour(value, path, 'light')
    return { light, dark: lightenOn(surfaces.dark, light, minimumContrast) }
  }
  assertObject(value, path, 'a colour such as #0b57d0, or { light, dark }')
  return readOptions(value, accentReaders, path)
}

function readColour (value: unknown, path: string, mode: keyof typeof surfaces): string {
  assertOption(typeof value === 'string' && /^#[\da-f]{6}$/i.test(value), path, 'a colour such as #0b57d0', value)
  const contrast = contrastOf(value, surfaces[mode])
  const found = `${value} with ${Math.floor(contrast * 100) / 100}:1`
  assertOption(
    contrast >= minimumContrast,
    path,
    `a colour with a contrast of at least ${minimumContrast}:1 on ${surfaces[mode]}`,
    found
  )
  return value.toLowerCase()
}

export function readRadius (value: number | undefined, path: string): string {
  assertOption(typeof value === 'number' && value >= 0 && value <= 24, path, 'a number from 0 to 24', value)
  return `${value}px`
}

const family = /("[\w -]+"|'[\w -]+'|-?[A-Za-z][\w-]*( [\w-]+)*)/

const families = new RegExp(`^${family.source}( ?, ?${family.source})*$`)

export const font = matching(
  (text) => text.length <= 200 && families.test(text),
  'a list of typefaces such as Inter, "Segoe UI", sans-serif'
)

/** As written in a policy. */
const self = "'self'"

export const portalOrigin = matching(isOrigin, 'an origin such as https://ats.example')

const frameAncestor = matching(
  (text) => text === self || isOrigin(text),
  "an origin such as https://ats.example, or 'self'"
)

export function readPortalKeys (value: unknown, path: string): readonly Uint8Array[] {
  const keys = readKeys(value ?? [], path)
  assertOption(
    keys.length > 0,
    path,
    'an array of at least one Buffer of 32 bytes',
    value === undefined ? undefined : 'an empty array'
  )
  return keys
}

export function readFrameAncestor (value: string | undefined, path: string): string {
  return value === 'self' ? self : frameAncestor(value, path)
}

/** A policy allows only these characters in hosts (CSP 3, section 2.3.1), so nothing can be injected into it. */
function isOrigin (text: string): boolean {
  const url = parseUrl(text)
  if (url === null || url.origin !== text || !/^[a-z\d.-]+$/.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname))
}

export function readProxyUrl (value: unknown, path: string): HttpProxy {
  const expected = 'a URL such as http://proxy.example:3128'
  assertOption(typeof value === 'string', path, expected, value)
  const url = parseUrl(value)
  assertOption(url !== null && !/[\p{Cc}\s]/u.test(value), path, expected, 'text that is not a URL')
  const { protocol, host, hostname, port, pathname, search, hash, username, password } = url
  assertOption(protocol === 'http:' || protocol === 'https:', path, expected, 'another protocol')
  assertOption(port !== '0', path, expected, 'port 0')
  assertOption(pathname + search + hash === '/', path, expected, 'a URL with a path')
  const credentials = decodeCredentials(username, password)
  assertOption(
    credentials !== null,
    path,
    'percent-encoded credentials without control characters, the user name without a colon',
    'others'
  )
  const authorization = username + password === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`
  return { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, authorization }
}

/** Returns the credentials for `Basic` (RFC 7617, section 2); `null` if it cannot express them. */
function decodeCredentials (username: string, password: string): string | null {
  try {
    const user = decodeURIComponent(username)
    const credentials = `${user}:${decodeURIComponent(password)}`
    return user.includes(':') || /\p{Cc}/u.test(credentials) ? null : credentials
  } catch {
    return null
  }
}

export const cidr = matching((text) => parseCidr(text) !== null, 'a CIDR such as 10.0.0.0/8')

/** Rejects addresses with a zone, such as `fe80::1%eth0`, which are only valid on one machine. */
export const addressOrCidr = matching(
  (text) => parseCidr(text) !== null || (isIP(text) !== 0 && !text.includes('%')),
  'an IP address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24'
)

export const environmentName = matching(
  (text) => text !== '' && text.length <= 64 && !/\p{Cc}/u.test(text),
  '1 to 64 characters without control characters'
)

export const retrySeconds = checked<number>(
  (seconds) => typeof seconds === 'number' && seconds >= 0 && seconds <= 31_536_000,
  'seconds from 0 to 31536000'
)

export function readSecretKeys (value: SecretKeys = [], path: string): SecretKeys {
  if (!hasFunctions(value)) return readKeys(value, path)
  const { seal, open, keys = [] } = value
  assertKnownNames(value, { seal, open, keys }, `${path}.`)
  for (const [name, given] of Object.entries({ seal, open })) {
    assertOption(typeof given === 'function', `${path}.${name}`, 'a function', typeof given)
  }
  readKeys(keys, `${path}.keys`)
  return value
}

function hasFunctions (value: SecretKeys): value is SecretFunctions {
  return typeof value === 'object' && value !== null && ('seal' in value || 'open' in value)
}

export const openTelemetryApi = checked<OpenTelemetryApi>(
  (api) => typeof readField(readField(api, 'trace'), 'getTracer') === 'function',
  'the module @opentelemetry/api'
)

/** Reads additional fields of a resource that already publishes the fields `taken`. */
export function fields (...taken: readonly string[]): Reader<TObject, TypeBoxObject> {
  return (value, path) => {
    if (value === undefined) return Type.Object({})
    assertHostSchema(value, path)
    for (const name of Object.keys(value.properties)) {
      assertOption(!taken.includes(name), `${path}.${name}`, 'a field that is not already published', name)
    }
    return value
  }
}

export function readRoutes (routes: HostRoutes | null = null, path: string): HostRoutes | null {
  assertOption(routes === null || typeof routes === 'function', path, 'a Fastify plugin', routes)
  return routes
}

/** Every required method of each port, so that the compiler finds a forgotten one. */
const methods = {
  webhooks: {
    list: true,
    count: true,
    find: true,
    findHealth: true,
    listFailing: true,
    nextId: true,
    create: true,
    update: true,
    delete: true,
    rotateSecret: true,
    findSecrets: true,
    findHeaders: true,
    findGraceEnd: true,
    listSecrets: true,
    replaceSecret: true,
    renameTenant: true,
    removeTenant: true,
    listResting: true
  },
  deliveries: {
    record: true,
    claimDue: true,
    recordAttempts: true,
    recordAndClaim: true,
    claimNotices: true,
    confirmNotice: true,
    release: true,
    hasPending: true,
    list: true,
    count: true,
    find: true,
    replay: true,
    countReplay: true,
    retry: true,
    prune: true,
    erase: true,
    listSubjectEvents: true,
    stats: true,
    tenantStats: true,
    onDue: true
  },
  changes: { begin: true, list: true, record: true, tokenSecret: true, prune: true, stats: true },
  feed: { end: true, endBefore: true, find: true, list: true, latest: true, stats: true, tokenSecret: true },
  holds: { find: true, adopt: true },
  idempotency: { claim: true, renew: true, save: true },
  candidates: { list: true, count: true, find: true },
  jobs: { list: true, count: true, find: true }
} satisfies MethodNames<Required<Omit<AnyRecruitingStorage, 'verify' | 'connections'>>>

type MethodNames<Storage> = { [Part in keyof Storage]: Record<RequiredNames<Storage[Part]>, true> }

type RequiredNames<Port> = { [Name in keyof Port]-?: undefined extends Port[Name] ? never : Name }[keyof Port]

const readMax = integer(1, 100_000)

/** Checks a storage of webhooks and deliveries. Throws `invalid_option` for a missing method. */
export function readEventStorage (value: unknown, path: string): EventStorage {
  assertOption(typeof value === 'object' && value !== null, path, 'an object', value)
  for (const name of ['webhooks', 'deliveries'] as const) assertPort(value, path, name)
  for (const name of ['changes', 'feed', 'holds', 'idempotency'] as const) {
    if (Reflect.get(value, name) !== undefined) assertPort(value, path, name)
  }
  const { connections } = value as EventStorage
  if (connections !== undefined) readMax(connections.max, `${path}.connections.max`)
  return value as EventStorage
}

/** Checks a storage with candidates and jobs. Throws `invalid_option` for a missing method. */
export function readStorage (value: unknown, path: string): RecruitingStorage<Id, Id, Id, Id> {
  const storage = readEventStorage(value, path)
  for (const name of ['candidates', 'jobs'] as const) assertPort(storage, path, name)
  return storage as RecruitingStorage<Id, Id, Id, Id>
}

function assertPort (storage: object, path: string, name: keyof typeof methods): void {
  const port: unknown = Reflect.get(storage, name)
  assertOption(typeof port === 'object' && port !== null, `${path}.${name}`, 'an object', port)
  for (const method of Object.keys(methods[name])) {
    const value: unknown = Reflect.get(port, method)
    assertOption(typeof value === 'function', `${path}.${name}.${method}`, 'a method', value)
  }
}

/** Checks an event catalogue. Throws `invalid_option` for a malformed name or schema. */
export function readEvents (value: unknown, path: string): EventSchemas {
  if (value === undefined || value === defaultEvents) return defaultEvents
  assertOption(typeof value === 'object' && value !== null, path, 'a map from event names to TypeBox schemas', value)
  assertOption(Object.keys(value).length > 0, path, 'at least one event', value)
  const ajv = createAjv({ useDefaults: false })
  for (const [name, schema] of Object.entries(value)) {
    assertOption(
      /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(name) && name.length <= 100,
      `${path}["${name}"]`,
      'a name such as application.created',
      name
    )
    assertHostSchema(schema, `${path}["${name}"]`, ajv)
    assertDeprecation(schema, `${path}["${name}"]`)
    assertDescriptions(schema, `${path}["${name}"].descriptions`)
  }
  return value as EventSchemas
}

/** A schema can also be deprecated without a date, by `true`, as in JSON Schema. */
function assertDeprecation ({ deprecated }: TObject, path: string): void {
  if (deprecated === undefined || typeof deprecated === 'boolean') return
  const fault = findDeprecationFault(deprecated)
  if (fault !== null) rejectOption(`${path}.deprecated${fault.path}`, fault.expected, fault.value)
}

function assertDescriptions ({ descriptions = {} }: TObject, path: string): void {
  assertObject(descriptions, path, 'an object of descriptions by language')
  for (const [locale, description] of Object.entries(descriptions)) {
    assertOption(
      readLocale(locale, `${path}.${locale}`) === locale,
      `${path}.${locale}`,
      'a language such as de or en-GB',
      locale
    )
    text(description, `${path}.${locale}`)
  }
}
