import type { KeySortField, KeyStore, ManagedKey } from '../../ports/index.js'
import { type TenantReference, tenantResting } from '../../shared/tenants.js'
import type { RunQuery, Session } from '../session.js'
import { moment, orderBy, toIso } from '../sql.js'
import { createSeen, keepSeen } from '../upgrade/version.js'
import { keyLimitReaders, type KeyLimits, readScopes } from '../../keys/api-key.js'
import { assertOption, type Readers, unread } from '../../shared/read-options.js'
import { isPlainText, normalizeInstant } from '../../shared/text.js'

const sortColumns: Record<KeySortField, string> = { id: 'k.id', created_at: 'k.created_at' }

const columns = `json_build_object(
  'id', k.id, 'name', k.name, 'scopes', k.scopes, 'allowed_ips', k.allowed_ips,
  'candidate_fields', k.candidate_fields, 'job_fields', k.job_fields, 'start', k.start,
  'created_at', ${toIso('k.created_at')}, 'created_by', k.created_by,
  'expires_at', ${toIso('least(k.expires_at, k.replaced_at)')}, 'replaced', k.replaced_at is not null,
  'last_used_at', ${toIso('k.last_used_at')}, 'revoked_at', ${toIso('k.revoked_at')}
)::text as key`

interface Row {
  key: string
}

/** Creates the store of the keys that customers manage. `schema` is quoted. */
export function createKeyStore (plain: Session, schema: string, prefix: string): KeyStore {
  const table = `${schema}.api_keys k`
  // A process may have keys without a storage.
  const session = keepSeen(plain, createSeen(plain, schema))

  async function findBy (query: RunQuery, tenant: string, id: string): Promise<ManagedKey | null> {
    const [row] = await query<Row>(`select ${columns} from ${table} where k.tenant = $1 and k.id = $2`, [tenant, id])
    return row === undefined ? null : JSON.parse(row.key)
  }

  async function call (query: RunQuery, name: string, values: unknown[]): Promise<string> {
    const parameters = values.map((_, index) => `$${index + 1}`).join(', ')
    const [row] = await query<{ result: string }>(`select ${schema}.${name}(${parameters})::text as result`, values)
    return String(row?.result)
  }

  return {
    prefix,

    async list (tenant, { sort, offset, limit }) {
      const rows = await session.query<Row>('list keys',
        `select ${columns} from ${table} where k.tenant = $1 ${orderBy(sort, sortColumns)} limit $2 offset $3`,
        [tenant, limit, offset])
      return rows.map(({ key }) => JSON.parse(key))
    },

    async count (tenant) {
      const [row] = await session.query<{ total: string }>('count keys',
        `select count(*)::text as total from ${table} where k.tenant = $1`, [tenant])
      return Number(row?.total)
    },

    find: (tenant, id) => session.transaction('find key', (query) => findBy(query, tenant, id)),

    create: (tenant, key, maxKeys) => session.transaction('create key', async (query) => {
      const end = `${moment} + $1::integer * interval '1 day'`
      const [row] = await query<{ end: string }>(`select ${toIso(`(${end})`)} as end`, [key.expiresInDays])
      const result = await call(query, 'issue_key_v1', [
        key.id, key.digest, key.start, tenant, key.tenantSlug, JSON.stringify(key.scopes), toJson(key.allowedIps),
        toJson(key.candidateFields), toJson(key.jobFields), key.name, key.createdBy, row?.end, String(maxKeys)
      ])
      if (result === 'full') return null
      if (result !== 'none') throw tenantResting(tenant, result)
      return findBy(query, tenant, key.id)
    }),

    rotate: (tenant, oldId, { id, digest, start, createdBy }, overlapSeconds) =>
      session.transaction('rotate key', async (query) => {
        const values = [tenant, oldId, id, digest, start, String(overlapSeconds), createdBy]
        return await call(query, 'rotate_key_v1', values) === 'true' ? findBy(query, tenant, id) : null
      }),

    revoke: (tenant, id) => session.transaction('revoke key', async (query) => {
      const isRevoked = await call(query, 'revoke_key_v1', [tenant, id]) === 'true'
      return isRevoked || await findBy(query, tenant, id) !== null
    })
  }
}

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
interface KeyValues extends KeyLimits {
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
