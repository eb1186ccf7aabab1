import { type KeyLimits, keyLimitReaders, readScopes } from '../../keys/api-key.js'
import { assertOption, type Readers, unread } from '../../shared/read-options.js'
import { isPlainText, normalizeInstant } from '../../shared/text.js'
import type { TenantReference } from '../../shared/tenants.js'
import { toIso } from '../sql.js'

/** A new API key. */
export type NewApiKey = TenantReference & NewApiKeyFields

interface NewApiKeyFields {
  /** For example `candidates:read`: scopes of the API, and those of `ownScopes`. */
  scopes: readonly string[]
  /**
   * Networks that requests with the key may come from, as 1 to 100 CIDRs. Requests from elsewhere get the 401 of an
   * unknown key. Behind a proxy, name the proxy in `trustProxy`.
   * @default any address
   */
  allowedIps?: readonly string[] | null
  /**
   * The published fields of a candidate that the key sees besides `id`, up to 200. Others are left out of responses,
   * and cannot be used in filters and `sort`.
   * @default all
   */
  candidateFields?: readonly string[] | null
  /**
   * The same for the fields of a job.
   * @default all
   */
  jobFields?: readonly string[] | null
  /**
   * A description, 1 to 255 characters.
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

/** A stored API key: everything but the key. Dates are RFC 3339 in UTC with milliseconds. */
export interface StoredApiKey {
  /** Names the key in logs and audits. */
  id: string
  /** The tenant's name when the key was issued or the tenant was renamed. */
  tenantSlug: string
  /** The id of the only tenant that the key is valid for: its slug if none was given. */
  tenantId: string
  /** The description of the key; `null` without one. */
  name: string | null
  /** For example `candidates:read`. */
  scopes: string[]
  /** CIDRs that requests may come from; `null` for any address. */
  allowedIps: string[] | null
  /** The published fields of a candidate that the key sees besides `id`; `null` for all. */
  candidateFields: string[] | null
  /** The same for the fields of a job. */
  jobFields: string[] | null
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

/** The stored values of a new key, and its tenant, which is checked elsewhere. */
export interface KeyValues extends KeyLimits {
  tenantSlug: unknown
  tenantId: unknown
  scopes: string[]
  name: string | null
  expiresAt: string | null
  createdBy: string | null
}

/**
 * The check of each value. An unknown name is rejected, because a key with a misspelt `expiresAt` would never expire.
 */
export const keyReaders: Readers<KeyValues> = {
  tenantSlug: unread,
  tenantId: unread,
  scopes: readScopes,
  ...keyLimitReaders,
  name: readLabel,
  expiresAt (value: Date | string | null = null, path: string) {
    if (value === null) return null
    const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
    const instant = normalizeInstant(text)
    assertOption(instant !== null, path, 'a valid Date or an RFC 3339 date-time', value)
    return instant
  },
  createdBy: readLabel
}

/** Selects a row `k` of `api_keys` as JSON. */
export const keyJson = `json_build_object(
  'id', k.id, 'tenantSlug', k.tenant_slug, 'tenantId', k.tenant, 'name', k.name, 'scopes', k.scopes,
  'allowedIps', k.allowed_ips, 'candidateFields', k.candidate_fields, 'jobFields', k.job_fields, 'start', k.start,
  'createdAt', ${toIso('k.created_at')}, 'createdBy', k.created_by, 'expiresAt', ${toIso('least(k.expires_at, k.replaced_at)')},
  'lastUsedAt', ${toIso('k.last_used_at')}, 'revokedAt', ${toIso('k.revoked_at')}
)`

function readLabel (value: unknown = null, path: string): string | null {
  assertOption(value === null || isPlainText(value, 255), path, '1 to 255 characters without control characters', value)
  return value
}

/** Formats a list for the functions in the database. */
export function toJson (list: readonly string[] | null): string | null {
  return list && JSON.stringify(list)
}
