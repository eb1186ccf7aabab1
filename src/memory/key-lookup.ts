import { hashApiKey, keyLimitReaders, omitNull } from '../keys/api-key.js'
import { RecruitingApiError } from '../errors.js'
import { assertKnownNames } from '../shared/read-options.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import type { ApiKey, AsyncKeyLookup, Clock } from '../ports/index.js'
import { isRecord, parseDateTime, parseTenant, parseText, refuse } from './checks.js'

/** An API key, its tenant and its scopes. */
export interface MemoryApiKey {
  /** 1 to 512 characters of `A-Z a-z 0-9 - . _ ~ + /`, with `=` only at the end (RFC 6750, section 2.1). */
  key: string
  /** The only tenant that the key is valid for, 1 to 100 characters without control characters. */
  tenantSlug: string
  /** The id of that tenant. @default the slug, as without the option `tenantId` */
  tenantId?: string
  /** For example `candidates:read`. */
  scopes: readonly string[]
  /** CIDRs that requests with the key may come from, 1 to 100. @default any address */
  allowedIps?: readonly string[]
  /** The published fields of a candidate that the key sees besides `id`. @default all */
  candidateFields?: readonly string[]
  /** The published fields of a job that the key sees besides `id`. @default all */
  jobFields?: readonly string[]
  /** Identifies the key in logs. @default `key_1`, `key_2` and so on, by position in the list */
  id?: string
  /** When the key expires, as a `Date` or RFC 3339 text. @default never */
  expiresAt?: Date | string
  /** @default false */
  revoked?: boolean
}

/** Options of `memoryKeyLookup`. */
export interface MemoryKeyLookupOptions {
  /** The clock that decides when keys expire. @default the system clock */
  clock?: Pick<Clock, 'now'>
}

const optionNames = { clock: true } satisfies Record<keyof MemoryKeyLookupOptions, true>

// Unknown names are rejected, because a misspelt `expiresAt` would create a key that never expires.
const keyNames = {
  key: true,
  tenantSlug: true,
  tenantId: true,
  scopes: true,
  allowedIps: true,
  candidateFields: true,
  jobFields: true,
  id: true,
  expiresAt: true,
  revoked: true
} satisfies Record<keyof MemoryApiKey, true>

interface KnownKey {
  tenant: string
  expiresAt: number
  owner: ApiKey
}

/**
 * Creates a key lookup from a list of keys. It stores only their SHA-256 digests.
 *
 * Throws `RecruitingApiError` (`invalid_option`) for an unknown option and a malformed or duplicate key. The message
 * never contains the key.
 */
export function memoryKeyLookup (keys: readonly MemoryApiKey[], options: MemoryKeyLookupOptions = {}): AsyncKeyLookup {
  assertKnownNames(options, optionNames)
  const clock = options.clock ?? { now: Date.now }
  const known = readKeys(keys)

  return async ({ tenantId, key }) => {
    const match = known.get(hashApiKey(key))
    return match !== undefined && match.tenant === tenantId && clock.now() < match.expiresAt ? match.owner : null
  }
}

function readKeys (keys: unknown): Map<string, KnownKey> {
  if (!Array.isArray(keys)) refuseKey('keys', 'expected an array')
  const known = new Map<string, KnownKey>()
  keys.forEach((input: unknown, index) => {
    const path = `keys[${index}]`
    if (!isRecord(input)) refuseKey(path, 'expected an object')
    const digest = hashApiKey(parseKey(input.key, `${path}.key`))
    // Only after the key was found among the values: otherwise the unknown name could be the key itself.
    assertKnownNames(input, keyNames, `${path}.`)
    if (known.has(digest)) refuseKey(`${path}.key`, 'is listed twice')
    known.set(digest, parseKnownKey(input, path, `key_${index + 1}`))
  })
  return known
}

function parseKnownKey (input: Record<string, unknown>, path: string, defaultId: string): KnownKey {
  const isRevoked = parseFlag(input.revoked ?? false, `${path}.revoked`)
  return {
    tenant: readTenant(input, path),
    expiresAt: isRevoked ? Number.NEGATIVE_INFINITY : parseExpiry(input.expiresAt, `${path}.expiresAt`),
    owner: Object.freeze({
      id: parseText(input.id ?? defaultId, `${path}.id`),
      scopes: parseScopes(input.scopes, `${path}.scopes`),
      ...parseLimits(input, path)
    })
  }
}

function readTenant ({ tenantSlug, tenantId }: Record<string, unknown>, path: string): string {
  if (!isTenantSlug(tenantSlug)) refuse(`${path}.tenantSlug`, tenantSlugRule, tenantSlug)
  return tenantId === undefined ? tenantSlug : parseTenant(tenantId, `${path}.tenantId`)
}

function parseKey (value: unknown, path: string): string {
  const isKey = typeof value === 'string' && value.length <= 512 && /^[\w.~+/-]+=*$/.test(value)
  return isKey
    ? value
    : refuseKey(path, 'expected 1 to 512 characters of A-Z a-z 0-9 - . _ ~ + / with = only at the end')
}

function parseScopes (value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) refuse(path, 'an array', value)
  return Object.freeze(value.map((scope: unknown, index) => parseText(scope, `${path}[${index}]`)))
}

function parseLimits (input: Record<string, unknown>, path: string): ReturnType<typeof omitNull> {
  return omitNull({
    allowedIps: keyLimitReaders.allowedIps(input.allowedIps, `${path}.allowedIps`),
    candidateFields: keyLimitReaders.candidateFields(input.candidateFields, `${path}.candidateFields`),
    jobFields: keyLimitReaders.jobFields(input.jobFields, `${path}.jobFields`)
  })
}

function parseExpiry (value: unknown, path: string): number {
  if (value === undefined) return Number.POSITIVE_INFINITY
  if (!(value instanceof Date)) return parseDateTime(value, path)
  const time = value.getTime()
  return Number.isNaN(time) ? refuse(path, 'a valid date', String(value)) : time
}

function parseFlag (value: unknown, path: string): boolean {
  return typeof value === 'boolean' ? value : refuse(path, 'a boolean', value)
}

// The message does not show the value, because it may be or contain a key.
function refuseKey (path: string, problem: string): never {
  throw new RecruitingApiError('invalid_option', `${path}: ${problem}`, path)
}
