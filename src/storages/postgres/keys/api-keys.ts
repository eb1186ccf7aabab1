import { apiScopes, manageKeysScope } from '../../../core/api/scopes.js'
import { RecruitingApiError } from '../../../core/shared/errors.js'
import {
  createKeyId, expectScopes, generateApiKey, hashApiKey, keyLimitReaders, keyStart,
  readKeyPrefix, readScopes
} from '../../../core/keys/api-key.js'
import { type AuditListener, createAuditor, describeCall } from '../../../core/observe/audit.js'
import { createWarningLogger } from '../../../core/observe/logger.js'
import { systemClock } from '../../../core/shared/clock.js'
import {
  assertOption, type OptionsOf, type SettingsOf, callable, choice, assertObject, flag, integer, matching, optional,
  orNull, plainText, readInput, readOptions, unread
} from '../../../core/shared/read-options.js'
import {
  type TenantReference, type TenantSlugLookup, createSlugLookup, readTenant, readTenantArgument, showTenant,
  tenantResting
} from '../../../core/shared/tenants.js'
import type { Creator } from '../../../core/ports/index.js'
import { isPlainText, normalizeInstant } from '../../../core/shared/text.js'
import { type Call, runInTransaction } from '../transactions.js'
import { assertPool, type PgPool } from '../pool.js'
import { createSession, readQueryTimeout } from '../session.js'
import { creatorJson, quoteName, readSchema, toIso } from '../sql.js'
import { createTurns } from '../turns.js'

const keysOptions = {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema: readSchema,
  /**
   * The prefix of every key, followed by `_`: 2 to 16 characters of `a-z 0-9`, starting with a letter. Choose your own,
   * so that secret scanners recognize your keys, and pass the same one to `postgresKeyLookup`.
   * @default 'rk'
   */
  prefix: readKeyPrefix,
  /**
   * The scopes of your own routes, which keys can have in addition to the API's. `app.recruiting.scopes` contains both.
   * @default []
   */
  ownScopes: (value: readonly string[] = [], path: string) => readScopes(value, path),
  /**
   * Your servers' option `tenantSlug`, which looks up the tenant's slug for keys issued by `tenantId`.
   * @default the id as text
   */
  tenantSlug: orNull(callable<TenantSlugLookup>()),
  /**
   * Your servers' option `onAudit`: called with an `AuditEntry` after each call that issues, rotates or revokes a key.
   * Calls do not wait for it.
   * @default none
   */
  onAudit: orNull(callable<AuditListener>()),
  /**
   * Query timeout in milliseconds, 100 to 120,000. Slower calls reject with `storage_timeout`. Statements in your own
   * transactions have no timeout.
   * @default 5000
   */
  queryTimeoutMs: readQueryTimeout
}

/** Options of `apiKeys`. */
export interface ApiKeysOptions extends OptionsOf<typeof keysOptions> {}

/** A new API key. */
export type NewApiKey = TenantReference & NewApiKeyFields

/** An existing key: its text, or its SHA-256 as 64 hexadecimal digits or in base64. */
export type ImportedApiKey = NewApiKey & ({ key: string, sha256?: undefined } | { sha256: string, key?: undefined })

interface NewApiKeyFields {
  /** Scopes of the API, such as `candidates:read`, and of `ownScopes`. */
  scopes: readonly string[]
  /**
   * Networks that the key can be used from, as 1 to 100 CIDRs. Requests from other addresses get the same 401 as an
   * unknown key. Behind a proxy, name the proxy in `trustProxy`.
   * @default any address
   */
  allowedIps?: readonly string[] | null
  /**
   * The published candidate fields that the key can read besides `id`, up to 200. Responses omit other fields, and
   * requests cannot filter or sort by them.
   * @default all
   */
  candidateFields?: readonly string[] | null
  /**
   * The same for job fields.
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

/** A stored API key, without the key itself. Dates are RFC 3339 in UTC with milliseconds. */
export interface StoredApiKey {
  /** Identifies the key in logs and audits. */
  id: string
  /** The tenant's slug when the key was issued or the tenant was renamed. */
  tenantSlug: string
  /** The id of the key's tenant; its slug if no id was given. */
  tenantId: string
  /** The key's description; `null` without one. */
  name: string | null
  /** For example `candidates:read`. */
  scopes: string[]
  /** CIDRs that the key can be used from; `null` for any address. */
  allowedIps: string[] | null
  /** The published candidate fields that the key can read besides `id`; `null` for all. */
  candidateFields: string[] | null
  /** The same for job fields. */
  jobFields: string[] | null
  /** The 4 characters after the prefix, to recognize the key. `null` for a key imported by its digest. */
  start: string | null
  createdAt: string
  /** Who created the key: a key or a session of the tenant, or the vendor's code with its `createdBy`. */
  createdBy: Creator
  /** When the key expires: its own date or, if it was rotated, the end of the overlap, whichever comes first. */
  expiresAt: string | null
  /** Accurate to two minutes. `null` if the key was never used. */
  lastUsedAt: string | null
  revokedAt: string | null
}

/** An API key that was just issued. */
export interface IssuedApiKey extends StoredApiKey {
  /** The key. Shown only once: the storage keeps only its digest. */
  key: string
}

interface CallOptions {
  /**
   * The host's transaction, as for `emit`.
   * @default a new transaction
   */
  transaction?: unknown
}

interface RevokeOptions extends CallOptions {
  /**
   * Whether to revoke its children too: the keys that it created, the keys that replace them, and their children.
   * @default false
   */
  children?: boolean
  /**
   * `disable` makes the webhooks `inactive` that the key created, or a key that it replaced; with `children`, those of
   * its children too.
   * @default 'keep'
   */
  webhooks?: 'keep' | 'disable'
}

/**
 * Issues and revokes API keys. Only digests of keys are stored. Each method throws `invalid_input` for its arguments,
 * `invalid_event` for an invalid `transaction`, `storage_timeout` and errors of the database.
 */
export interface ApiKeys {
  /**
   * Issues a key. The result contains the key itself, which cannot be read again. Throws `invalid_input` for a scope
   * that no route has, and `tenant_resting`.
   */
  issue(key: NewApiKey, options?: CallOptions): Promise<IssuedApiKey>
  /**
   * Stores one of your existing keys, given as text or as its SHA-256, so that it continues to work. Stores only its
   * digest. Returns the existing key if the tenant already has it. Throws `invalid_input` if another tenant has it, and
   * the errors of `issue`.
   */
  import(key: ImportedApiKey, options?: CallOptions): Promise<StoredApiKey>
  /** Returns the tenant's keys, oldest first, including expired and revoked ones. */
  list(tenant: TenantReference, options?: CallOptions): Promise<StoredApiKey[]>
  /**
   * Issues a key that replaces one of the tenant's keys. The new key has the same scopes, limits, name and expiry date,
   * and a new id. The old key expires after `overlapSeconds`, 0 to 31,536,000, by default a day. Throws `not_found` if
   * the tenant has no such key, or the key expired or was revoked.
   */
  rotate(
    tenant: TenantReference, id: string, overlap?: { overlapSeconds?: number }, options?: CallOptions
  ): Promise<IssuedApiKey>
  /**
   * Revokes one of the tenant's keys immediately. Returns `false` if the tenant has no such key, or it was already
   * revoked; `children` and `webhooks` then still apply.
   */
  revoke(tenant: TenantReference, id: string, options?: RevokeOptions): Promise<boolean>
  /** Returns one of the tenant's keys; `null` if the tenant has no such key. */
  find(tenant: TenantReference, id: string, options?: CallOptions): Promise<StoredApiKey | null>
  /**
   * Returns the same methods, which report this actor to `onAudit`: 1 to 128 characters without control characters.
   * Throws `invalid_input`.
   */
  as(actor: string): Omit<ApiKeys, 'as'>
}

type KeyCalls = Omit<ApiKeys, 'as'>

/** Keys that a header can contain, long enough that nobody guesses them. */
const ownKey = /^(?=.{16,512}$)[A-Za-z0-9\-._~+/]+=*$/

const importReaders = {
  key: optional(matching((text) => ownKey.test(text), '16 to 512 characters of A-Z a-z 0-9 - . _ ~ + /, then any =')),
  sha256: optional((value: unknown, path: string): string => {
    const text = String(value)
    const digest = /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : Buffer.from(text, 'base64').toString('hex')
    assertOption(digest.length === 64, path, 'a SHA-256 as 64 hexadecimal digits or in base64', value)
    return digest
  })
}

/** The check of each value. Unknown names are rejected: a key with a misspelt `expiresAt` would never expire. */
const keyReaders = {
  // The tenant is checked elsewhere.
  tenantSlug: unread,
  tenantId: unread,
  ...keyLimitReaders,
  name: readLabel,
  expiresAt (value: Date | string | null = null, path: string): string | null {
    if (value === null) return null
    const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : String(value)
    const instant = normalizeInstant(text)
    assertOption(instant !== null, path, 'a valid Date or an RFC 3339 date-time', value)
    return instant
  },
  createdBy: readLabel
}

const keyJson = `json_build_object(
  'id', k.id, 'tenantSlug', k.tenant_slug, 'tenantId', k.tenant, 'name', k.name, 'scopes', k.scopes,
  'allowedIps', k.allowed_ips, 'candidateFields', k.candidate_fields, 'jobFields', k.job_fields, 'start', k.start,
  'createdAt', ${toIso('k.created_at')}, 'createdBy', ${creatorJson('k')},
  'expiresAt', ${toIso('least(k.expires_at, k.replaced_at)')},
  'lastUsedAt', ${toIso('k.last_used_at')}, 'revokedAt', ${toIso('k.revoked_at')}
)`

function readLabel (value: unknown = null, path: string): string | null {
  assertOption(value === null || isPlainText(value, 255), path, '1 to 255 characters without control characters', value)
  return value
}

const callReaders = { transaction: unread }
const revokeReaders = { ...callReaders, children: flag(false), webhooks: choice(['keep', 'disable'], 'keep') }
const overlapReaders = { overlapSeconds: integer(0, 31_536_000, 86_400) }

/** Manages the API keys that `postgresKeyLookup` finds. Throws `invalid_option`. */
export function apiKeys (pool: PgPool, options: ApiKeysOptions = {}): ApiKeys {
  assertPool(pool)
  const {
    schema: name, prefix, ownScopes, tenantSlug: lookup, onAudit, queryTimeoutMs
  } = readOptions(options, keysOptions)
  const schema = quoteName(name)
  const session = createSession(pool, queryTimeoutMs)
  const findSlug = createSlugLookup(lookup, systemClock)
  const takeTurn = createTurns('API keys')

  const knownScopes = [...apiScopes, manageKeysScope, ...ownScopes]
  const findKey = `coalesce((select ${keyJson} from ${schema}.api_keys k
    where k.tenant = $1 and k.id = $2)::text, 'null')`

  const run = <Result>(operation: string, transaction: unknown, work: (call: Call) => Promise<Result>) =>
    runInTransaction(session, operation, transaction, work)

  async function show (call: Call, tenant: string, id: string, key: string): Promise<IssuedApiKey> {
    const stored: StoredApiKey = JSON.parse(await call(findKey, [tenant, id]))
    return { ...stored, key }
  }

  const readers = {
    scopes (value: unknown, path: string) {
      const scopes = readScopes(value, path)
      expectScopes(scopes, path, knownScopes)
      return scopes
    },
    ...keyReaders
  }

  async function readRow (fields: SettingsOf<typeof readers>, transaction: unknown) {
    const { tenantSlug, tenantId, scopes, name, createdBy, expiresAt, ...limits } = fields
    const reference = readTenant({ tenantSlug, tenantId })
    const tenant = reference.id ?? reference.slug
    return {
      id: createKeyId(),
      tenant,
      tenant_slug: reference.slug ?? await findSlug(tenant, transaction) ?? tenant,
      name,
      scopes,
      allowed_ips: limits.allowedIps,
      candidate_fields: limits.candidateFields,
      job_fields: limits.jobFields,
      creator_type: 'code',
      creator_id: createdBy,
      expires_at: expiresAt
    }
  }

  async function store (call: Call, row: { tenant: string, digest: string, start: string | null }): Promise<void> {
    const restsUntil = await call(`${schema}.issue_key_v1($1, null, null)`, [JSON.stringify(row)])
    if (restsUntil !== 'none') throw tenantResting(row.tenant, restsUntil)
  }

  const auditor = onAudit && createAuditor(onAudit, createWarningLogger(systemClock), {
    clock: systemClock, closeGraceMs: 0
  })

  /** Reports a change that succeeded. */
  function report (
    actor: string | null, operationId: string, id: string, tenant: TenantReference, tenantId: string
  ): void {
    const call = { operationId, tenantSlug: showTenant(tenant), tenantId, resource: { kind: 'key', id } }
    auditor?.report(describeCall('code', actor, call))
  }

  const callsOf = (actor: string | null): KeyCalls => ({
    async issue (input, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const row = await readRow(readInput(input, readers), transaction)
      const key = generateApiKey(prefix)
      const issued = await run('issue key', transaction, async (call) => {
        await store(call, { ...row, digest: hashApiKey(key), start: keyStart(key) })
        return show(call, row.tenant, row.id, key)
      })
      report(actor, 'issueKey', row.id, input, row.tenant)
      return issued
    },

    async import (input, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const { key, sha256, ...fields } = readInput(input, { ...readers, ...importReaders })
      const digest = key === undefined ? sha256 : hashApiKey(key)
      if (digest === undefined || (key !== undefined && sha256 !== undefined)) {
        throw new RecruitingApiError('invalid_input', 'key: expected either key or sha256', 'key')
      }
      const row = await readRow(fields, transaction)
      const imported: StoredApiKey = await run('import key', transaction, async (call) => {
        const [id, tenant] = JSON.parse(await call(`coalesce((
          select json_build_array(k.id, k.tenant)::text from ${schema}.api_keys k where k.digest = $1
        ), '[]')`, [digest])) as string[]
        if (tenant !== undefined && tenant !== row.tenant) {
          throw new RecruitingApiError('invalid_input', 'key: expected a key that no other tenant has', 'key')
        }
        if (id === undefined) await store(call, { ...row, digest, start: key === undefined ? null : keyStart(key) })
        return JSON.parse(await call(findKey, [row.tenant, id ?? row.id]))
      })
      report(actor, 'importKey', imported.id, input, row.tenant)
      return imported
    },

    async list (tenant, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const id = readKeyTenant(tenant)
      return run('list keys', transaction, async (call) =>
        JSON.parse(await call(`(
          select coalesce(json_agg(${keyJson} order by k.created_at, k.id), '[]') from ${schema}.api_keys k
          where k.tenant = $1
        )`, [id]))
      )
    },

    async rotate (keyTenant, oldId, overlap = {}, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const tenant = readKeyTenant(keyTenant)
      const old = readKeyId(oldId)
      const { overlapSeconds } = readInput(overlap, overlapReaders)
      const id = createKeyId()
      const key = generateApiKey(prefix)
      const row = JSON.stringify({ id, digest: hashApiKey(key), start: keyStart(key) })
      const issued = await takeTurn(tenant, () => run('rotate key', transaction, async (call) => {
        const result = await call(`${schema}.rotate_key_v1($1, $2, $3, $4, null)`, [
          tenant, old, row, String(overlapSeconds)
        ])
        if (result === 'busy') return result
        if (result === 'none') return show(call, tenant, id, key)
        throw new RecruitingApiError('not_found', 'id: the tenant has no valid key with this id', 'id')
      }))
      report(actor, 'rotateKey', old, keyTenant, tenant)
      return issued
    },

    async revoke (keyTenant, keyId, options = {}) {
      const { transaction, children, webhooks } = readInput(options, revokeReaders)
      const tenant = readKeyTenant(keyTenant)
      const id = readKeyId(keyId)
      const isRevoked = await takeTurn(tenant, () => run('revoke key', transaction, async (call) => {
        const values = [tenant, id, String(children)]
        const result = await call(`${schema}.revoke_key_v1($1, $2, $3)`, values)
        if (result === 'busy') return result
        if (result === 'missing') return false
        if (webhooks === 'disable') await call(`${schema}.disable_webhooks_v1($1, $2, $3)`, values)
        return JSON.parse(result).isRevoked === true
      }))
      if (isRevoked) report(actor, 'revokeKey', id, keyTenant, tenant)
      return isRevoked
    },

    async find (keyTenant, keyId, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const tenant = readKeyTenant(keyTenant)
      const id = readKeyId(keyId)
      return run('find key', transaction, async (call) => JSON.parse(await call(findKey, [tenant, id])))
    }
  })

  return {
    ...callsOf(null),
    as: (actor) => callsOf(readInput({ actor }, { actor: plainText(128) }).actor)
  }
}

/** Returns a tenant's id, which is the slug without a `tenantId`. */
function readKeyTenant (tenant: unknown): string {
  // Text is most likely a key's id, passed without its tenant.
  readInput({ tenant }, { tenant: (value, path) => assertObject(value, path, 'an object with tenantSlug or tenantId') })
  const { slug, id } = readTenantArgument(tenant)
  return id ?? slug
}

function readKeyId (id: unknown): string {
  return readInput({ id }, {
    id (value: unknown, path: string): string {
      assertOption(isPlainText(value, 255), path, 'the id of a key', value)
      return value
    }
  }).id
}
