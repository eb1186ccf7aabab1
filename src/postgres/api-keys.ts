import { randomUUID } from 'node:crypto'
import { generateApiKey, hashApiKey } from '../keys/api-key.js'
import { expect, expectNames } from '../shared/expect.js'
import { isTenantSlug, tenantSlugRule } from '../shared/text.js'
import { readSchema } from './options.js'
import type { PgQueryable } from './pool.js'
import { moment, quoteName } from './sql.js'

/** What an API key is made of. */
export interface IssueApiKeyOptions {
  /** The schema that `migrate` made. @default 'recruiting' */
  schema?: string
  /** The one tenant that the key is valid for: 1 to 100 characters, none of them control characters. */
  tenantSlug: string
  /** Such as `candidates:read`. */
  scopes: readonly string[]
  /** The time from which the key is no longer valid. @default never */
  expiresAt?: Date
}

/** An API key as it is handed to its owner. */
export interface IssuedApiKey {
  /** Names the key in logs, and to `revokeApiKey`. */
  id: string
  /** Cannot be shown again: only its digest is kept. */
  key: string
}

const issueNames = {
  schema: true,
  tenantSlug: true,
  scopes: true,
  expiresAt: true
} satisfies Record<keyof IssueApiKeyOptions, true>

const revokeNames = { schema: true, id: true } satisfies Record<keyof Parameters<typeof revokeApiKey>[1], true>

/** Makes an API key and keeps its SHA-256 digest. Throws `invalid_option`. */
export async function issueApiKey (pool: PgQueryable, options: IssueApiKeyOptions): Promise<IssuedApiKey> {
  // A misspelt `expiresAt` would make a key that never expires.
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

/** Makes a key invalid at once. `false` if there is no such key, or it was revoked before. Throws `invalid_option`. */
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
