import { expect } from '../../shared/expect.js'
import { normalizeInstant } from '../../shared/instant.js'
import { type Readers, slug } from '../../shared/read-options.js'
import { isPlainText } from '../../shared/text.js'
import { toIso } from '../sql.js'

/** A new API key. */
export interface NewApiKey {
  /** The tenant of the key: 1 to 100 characters, without control characters. */
  tenantSlug: string
  /** For example `candidates:read`. */
  scopes: readonly string[]
  /**
   * What the key is for, 1 to 255 characters.
   * @default null
   */
  name?: string | null
  /**
   * When the key expires, as a `Date` or an RFC 3339 date-time.
   * @default never
   */
  expiresAt?: Date | string | null
  /**
   * Who issued the key, 1 to 255 characters.
   * @default null
   */
  createdBy?: string | null
}

/** An API key as it is stored: everything but the key. Dates are RFC 3339 in UTC with milliseconds. */
export interface StoredApiKey {
  /** Names the key in logs and audits. */
  id: string
  /** The only tenant that the key is valid for. */
  tenantSlug: string
  /** What the key is for. */
  name: string | null
  /** For example `candidates:read`. */
  scopes: string[]
  /** The 4 characters after the prefix, to recognize the key by. `null` for a key that was imported by its digest. */
  start: string | null
  createdAt: string
  /** Who issued the key. */
  createdBy: string | null
  /** When the key ends: its own date or, if it was rotated, the end of the overlap, whichever comes first. */
  expiresAt: string | null
  /** Accurate to two minutes. `null` if the key was never used. */
  lastUsedAt: string | null
  revokedAt: string | null
}

/** An API key that was just issued. */
export interface IssuedApiKey extends StoredApiKey {
  /** The key. Shown only once: storage keeps the digest alone. */
  key: string
}

/** The values of a new key as they are stored. */
export interface KeyValues {
  tenantSlug: string
  scopes: string[]
  name: string | null
  expiresAt: string | null
  createdBy: string | null
}

/** The check of each value. An unknown name is refused, because a key with a misspelt `expiresAt` would never expire. */
export const keyReaders: Readers<KeyValues> = {
  tenantSlug: slug,
  scopes (value, path) {
    expect(Array.isArray(value) && value.every(isScope), path, 'an array of scopes such as candidates:read', value)
    return [...value]
  },
  name: readLabel,
  expiresAt (value = null, path) {
    if (value === null) return null
    const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
    const instant = normalizeInstant(text)
    expect(instant !== null, path, 'a valid Date or an RFC 3339 date-time', value)
    return instant
  },
  createdBy: readLabel
}

/** Selects a row `k` of `api_keys` as JSON. */
export const keyJson = `json_build_object(
  'id', k.id, 'tenantSlug', k.tenant_slug, 'name', k.name, 'scopes', k.scopes, 'start', k.start,
  'createdAt', ${toIso('k.created_at')}, 'createdBy', k.created_by, 'expiresAt', ${toIso('least(k.expires_at, k.replaced_at)')},
  'lastUsedAt', ${toIso('k.last_used_at')}, 'revokedAt', ${toIso('k.revoked_at')}
)`

function isScope (scope: unknown): boolean {
  return typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
}

function readLabel (value: unknown = null, path: string): string | null {
  expect(value === null || isPlainText(value, 255), path, '1 to 255 characters without control characters', value)
  return value
}
