import { randomUUID } from 'node:crypto'
import { generateApiKey, hashApiKey } from '../keys/api-key.js'
import { expect, expectNames } from '../shared/expect.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { readSchema } from './options.js'
import type { PgQueryable } from './pool.js'
import { moment, quoteName } from './sql.js'

/** Input of `issueApiKey`. */
export interface IssueApiKeyOptions {
  /** The schema that `migrate` made. @default 'recruiting' */
  schema?: string
  /** The tenant of the key: 1 to 100 characters, without control characters. */
  tenantSlug: string
  /** For example `candidates:read`. */
  scopes: readonly string[]
  /** When the key expires. @default never */
  expiresAt?: Date
}

/** A new API key. */
export interface IssuedApiKey {
  /** Names the key in logs, and to `revokeApiKey`. */
  id: string
  /** Shown only once: storage keeps the digest alone. */
  key: string
}

const issueNames = {
  schema: true,
  tenantSlug: true,
  scopes: true,
  expiresAt: true
} satisfies Record<keyof IssueApiKeyOptions, true>

const revokeNames = { schema: true, id: true } satisfies Record<keyof Parameters<typeof revokeApiKey>[1], true>

/** Creates an API key and stores its SHA-256 digest. Throws `invalid_option`. */
export async function issueApiKey (pool: PgQueryable, options: IssueApiKeyOptions): Promise<IssuedApiKey> {
  // A key with a misspelt `expiresAt` would never expire.
  expectNames(options, issueNames)
  const { tenantSlug, scopes, expiresAt } = options
  const schema = quoteName(readSchema(options.schema, 'schema'))
  expect(isTenantSlug(tenantSlug), 'tenantSlug', tenantSlugRule, tenantSlug)
  expect(Array.isArray(scopes) && scopes.every(isScope), 'scopes', 'an array of scopes such as candidates:read', scopes)
  expect(expiresAt === undefined || isDate(expiresAt), 'expiresAt', 'a valid Date', expiresAt)

  const id = `key_${randomUUID().replaceAll('-', '')}`
  const key = generateApiKey()
  await pool.query(`
    insert into ${schema}.api_keys (id, digest, tenant_slug, scopes, created_at, expires_at)
    values ($1, $2, $3, $4, ${moment}, $5)`, [id, hashApiKey(key), tenantSlug, [...scopes], expiresAt?.toISOString() ?? null])
  return { id, key }
}

/** Revokes a key at once. Returns `false` if the key is unknown or already revoked. Throws `invalid_option`. */
export async function revokeApiKey (pool: PgQueryable, options: { schema?: string, id: string }): Promise<boolean> {
  expectNames(options, revokeNames)
  const schema = quoteName(readSchema(options.schema, 'schema'))
  const { rows } = await pool.query(`
    update ${schema}.api_keys set revoked_at = ${moment} where id = $1 and revoked_at is null returning id`, [options.id])
  return rows.length > 0
}

function isScope (scope: unknown): boolean {
  return typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
}

function isDate (value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime())
}
