import { randomUUID } from 'node:crypto'
import { RecruitingApiError } from '../../errors.js'
import { generateApiKey, hashApiKey, keyStart, readKeyPrefix } from '../../keys/api-key.js'
import { expect } from '../../shared/expect.js'
import { type Reader, type Readers, integer, readInput, readOptions } from '../../shared/read-options.js'
import { isPlainText } from '../../shared/text.js'
import { type Call, runInTransaction } from '../handles/in-transaction.js'
import { assertPool, readQueryTimeout, readSchema } from '../options.js'
import type { PgPool } from '../pool.js'
import { createSession } from '../session.js'
import { quoteName } from '../sql.js'
import { type IssuedApiKey, type NewApiKey, type StoredApiKey, keyJson, keyReaders } from './stored-key.js'

/** Options of `apiKeys`. */
export interface ApiKeysOptions {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * The beginning of every key, followed by `_`: 2 to 16 characters of `a-z 0-9`, the first a letter. Choose one of your
   * own, so that secret scanners know your keys. Give the same to `postgresKeyLookup`.
   * @default 'rk'
   */
  prefix?: string
  /**
   * Time limit of a query in milliseconds, 100 to 120,000. Slower calls reject with `storage_timeout`. Statements in
   * transactions of the host have no limit.
   * @default 5000
   */
  queryTimeoutMs?: number
}

/** The last argument of each method. */
interface CallOptions {
  /**
   * The host's transaction, as for `emit`.
   * @default a transaction of its own
   */
  transaction?: unknown
}

/**
 * Issues and revokes API keys. Only digests of keys are stored. Each method throws `invalid_input` for its arguments,
 * `invalid_event` for an invalid `transaction`, `storage_timeout` and errors of the database.
 */
export interface ApiKeys {
  /** Issues a key. The result has the key itself, which cannot be read again. */
  issue (key: NewApiKey, options?: CallOptions): Promise<IssuedApiKey>
  /** Returns the keys of a tenant in the order in which they were issued, also those that are no longer valid. */
  list (tenant: { tenantSlug: string }, options?: CallOptions): Promise<StoredApiKey[]>
  /**
   * Issues a key that replaces another one: with the same tenant, scopes, name and date of expiry, and an id of its own.
   * The old key ends after `overlapSeconds`, 0 to 31,536,000, by default a day. Throws `not_found` if the old key does
   * not exist, expired or was revoked.
   */
  rotate (id: string, overlap?: { overlapSeconds?: number }, options?: CallOptions): Promise<IssuedApiKey>
  /** Revokes a key at once. Returns `false` if it does not exist or was revoked before. */
  revoke (id: string, options?: CallOptions): Promise<boolean>
  /** Returns a key; `null` if it does not exist. */
  find (id: string, options?: CallOptions): Promise<StoredApiKey | null>
}

const readers: Readers<Required<ApiKeysOptions>> = { schema: readSchema, prefix: readKeyPrefix, queryTimeoutMs: readQueryTimeout }
const callReaders: Readers<CallOptions> = { transaction: (value) => value }
const overlapReaders = { overlapSeconds: integer(0, 31_536_000, 86_400) }
const tenantReaders = { tenantSlug: keyReaders.tenantSlug }

/** Manages the API keys that `postgresKeyLookup` finds. Throws `invalid_option`. */
export function apiKeys (pool: PgPool, options: ApiKeysOptions = {}): ApiKeys {
  assertPool(pool)
  const { schema: name, prefix, queryTimeoutMs } = readOptions(options, readers)
  const schema = quoteName(name)
  const session = createSession(pool, queryTimeoutMs)

  const findKey = `coalesce((select ${keyJson} from ${schema}.api_keys k where k.id = $1)::text, 'null')`

  async function show (call: Call, id: string, key: string): Promise<IssuedApiKey> {
    const stored: StoredApiKey = JSON.parse(await call(findKey, [id]))
    return { ...stored, key }
  }

  return {
    async issue (input, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const { tenantSlug, scopes, name, createdBy, expiresAt } = readInput(input, keyReaders)
      const id = createId()
      const key = generateApiKey(prefix)
      const values = [id, hashApiKey(key), keyStart(key), tenantSlug, JSON.stringify(scopes), name, createdBy, expiresAt]
      return runInTransaction(session, 'issue key', transaction, async (call) => {
        await call(`${schema}.issue_key_v1($1, $2, $3, $4, $5, $6, $7, $8)`, values)
        return show(call, id, key)
      })
    },

    async list (tenant, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const { tenantSlug } = readInput(tenant, tenantReaders)
      return runInTransaction(session, 'list keys', transaction, async (call) => JSON.parse(await call(`(
        select coalesce(json_agg(${keyJson} order by k.created_at, k.id), '[]') from ${schema}.api_keys k where k.tenant_slug = $1
      )`, [tenantSlug])))
    },

    async rotate (oldId, overlap = {}, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const { id: old } = readInput({ id: oldId }, idReaders)
      const { overlapSeconds } = readInput(overlap, overlapReaders)
      const id = createId()
      const key = generateApiKey(prefix)
      return runInTransaction(session, 'rotate key', transaction, async (call) => {
        const isRotated = await call(`${schema}.rotate_key_v1($1, $2, $3, $4, $5)`, [old, id, hashApiKey(key), keyStart(key), String(overlapSeconds)])
        return isRotated === 'true' ? show(call, id, key) : refuseId()
      })
    },

    async revoke (keyId, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const { id } = readInput({ id: keyId }, idReaders)
      return runInTransaction(session, 'revoke key', transaction, async (call) =>
        await call(`${schema}.revoke_key_v1($1)`, [id]) === 'true')
    },

    async find (keyId, options = {}) {
      const { transaction } = readInput(options, callReaders)
      const { id } = readInput({ id: keyId }, idReaders)
      return runInTransaction(session, 'find key', transaction, async (call) => JSON.parse(await call(findKey, [id])))
    }
  }
}

const readId: Reader<string> = (value, path) => {
  expect(isPlainText(value, 255), path, 'the id of a key', value)
  return value
}
const idReaders = { id: readId }

function createId (): string {
  return `key_${randomUUID().replaceAll('-', '')}`
}

function refuseId (): never {
  throw new RecruitingApiError('not_found', 'id: there is no valid key with this id', 'id')
}
