import { hashApiKey, hasKeyChecksum, hasKeyFormat, omitNull, readKeyPrefix } from '../../../core/keys/api-key.js'
import { flag, type OptionsOf, readOptions } from '../../../core/shared/read-options.js'
import { readClock, systemClock } from '../../../core/shared/clock.js'
import { runInPlace } from '../../../core/shared/connections.js'
import { tenantResting } from '../../../core/shared/tenants.js'
import type {
  AsyncKeyLookup, Clock, GeneratedKey, KeyRejection, KeySortField, KeyStore, ManagedKey
} from '../../../core/ports/index.js'
import { assertPool, connectionsOf, type PgPool, type PgQueryable } from '../pool.js'
import { databaseOf, storeAnswer } from '../requests.js'
import { ask, createSession, readJson, readQueryTimeout, readValue, type RunQuery, type Session } from '../session.js'
import { creatorJson, orderBy, quoteName, readSchema, toIso } from '../sql.js'
import { type Call, callIn } from '../transactions.js'
import { createTurns } from '../turns.js'

// Timers of this clock do not keep the process alive.
const backgroundClock: Clock = {
  ...systemClock,
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs).unref()
}

const lookupOptions = {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema: readSchema,
  /**
   * The prefix of your keys, as passed to `apiKeys`, and of keys that customers create. A key with this prefix and a
   * wrong checksum is rejected without a query. Keys in any other form are looked up by digest.
   * @default 'rk'
   */
  prefix: readKeyPrefix,
  /**
   * Query timeout in milliseconds, 100 to 120,000. Slower lookups reject with `storage_timeout`.
   * @default 5000
   */
  queryTimeoutMs: readQueryTimeout,
  /**
   * Whether to record when a key was last used: at most once a minute per key, in the background. Needs the privilege
   * to update `api_keys`.
   * @default true
   */
  recordUses: flag(true),
  /**
   * The clock, for tests.
   * @default the system clock
   */
  clock: (value: Clock = backgroundClock, path: string) => readClock(value, path)
}

/** Options of `postgresKeyLookup`. */
export interface PostgresKeyLookupOptions extends OptionsOf<typeof lookupOptions> {}

/**
 * Looks up keys of `apiKeys` by digest, and lets customers manage their keys in the API and the portal. Throws
 * `invalid_option`.
 */
export function postgresKeyLookup (pool: PgPool, options: PostgresKeyLookupOptions = {}): AsyncKeyLookup {
  assertPool(pool)
  const { schema, prefix, queryTimeoutMs, recordUses, clock } = readOptions(options, lookupOptions)
  const session = createSession(pool, queryTimeoutMs)
  const recordUse = recordUses ? createKeyUses(pool, session, quoteName(schema), clock) : () => {}
  const text = `
    select id, array_to_json(scopes)::text as scopes,
      json_build_object(
        'allowedIps', allowed_ips, 'candidateFields', candidate_fields, 'jobFields', job_fields, 'name', name,
        'expiresAt', ${toIso('least(expires_at, replaced_at)')}
      )::text as details
    from ${quoteName(schema)}.api_keys
    where digest = $1 and tenant = $2 and revoked_at is null
      and coalesce(least(expires_at, replaced_at) > clock_timestamp(), true)`

  async function lookup ({ tenantId, key }: Parameters<AsyncKeyLookup>[0]): ReturnType<AsyncKeyLookup> {
    if (hasKeyFormat(key, prefix) && !hasKeyChecksum(key)) return null
    // A flood of unknown keys must not take the places of the tenant's other calls.
    const [row] = await runInPlace(connectionsOf(pool), `keys of ${tenantId}`, () =>
      session.prepared<{ id: string, scopes: string, details: string }>(
        'look up key', text, [hashApiKey(key), tenantId]
      ))
    if (row === undefined) return null
    recordUse(row.id)
    return { id: row.id, scopes: JSON.parse(row.scopes), ...omitNull(JSON.parse(row.details)) }
  }

  const store = { database: databaseOf(pool, schema), ...createKeyStore(session, quoteName(schema), prefix) }
  return Object.assign(lookup, { recordUse, store })
}

const intervalMs = 60_000
const batchSize = 1000

/**
 * Returns a function that records a key's use by its id. Uses are written a minute after the first one, at most once a
 * minute per key across all processes. If writing fails, or the process exits earlier, this minute's uses are lost.
 * `schema` is quoted.
 */
function createKeyUses (pool: PgPool, session: Session, schema: string, clock: Clock): (id: string) => void {
  const usedAtMs = new Map<string, number>()
  let isScheduled = false
  let isWarned = false
  const text = writeUses(schema)

  async function write (): Promise<void> {
    isScheduled = false
    const now = clock.monotonic()
    // Ages, because the process and the server may have different clocks.
    const uses = [...usedAtMs].map(([id, usedAt]) => ({ id, age_ms: Math.max(0, now - usedAt) }))
    usedAtMs.clear()
    if (pool.ending === true) return
    for (let begin = 0; begin < uses.length; begin += batchSize) {
      await session.query('record uses of keys', text, [JSON.stringify(uses.slice(begin, begin + batchSize))])
    }
  }

  function warn (error: unknown): void {
    if (isWarned) return
    isWarned = true
    process.emitWarning(`last_used_at of API keys could not be written: ${String(error)}`, 'RecruitingWarning')
  }

  return (id) => {
    usedAtMs.set(id, clock.monotonic())
    if (isScheduled) return
    isScheduled = true
    clock.setTimeout(() => { write().catch(warn) }, intervalMs)
  }
}

/** Skips locked rows: another process is writing them, or an administrator is changing them. */
function writeUses (schema: string): string {
  return `
    update ${schema}.api_keys k set last_used_at = used.at
    from (
      select k.id, date_trunc('milliseconds', clock_timestamp() - use.age_ms * interval '1 millisecond') as at
      from json_to_recordset($1::json) as use (id text, age_ms double precision)
      join ${schema}.api_keys k on k.id = use.id
      where coalesce(k.last_used_at <= clock_timestamp() - (use.age_ms + ${intervalMs}) * interval '1 millisecond',
        true)
      for no key update of k skip locked
    ) as used
    where k.id = used.id`
}

const sortColumns: Record<KeySortField, string> = { id: 'k.id', created_at: 'k.created_at' }

/** Selects a row `k` of `api_keys` as customers see it. */
const managedKeyJson = `json_build_object(
  'id', k.id, 'name', k.name, 'scopes', k.scopes, 'allowed_ips', k.allowed_ips,
  'candidate_fields', k.candidate_fields, 'job_fields', k.job_fields, 'start', k.start,
  'created_at', ${toIso('k.created_at')}, 'created_by', ${creatorJson('k')},
  'expires_at', ${toIso('least(k.expires_at, k.replaced_at)')}, 'replaced', k.replaced_at is not null,
  'last_used_at', ${toIso('k.last_used_at')}, 'revoked_at', ${toIso('k.revoked_at')}
)`

/** Creates the store of the keys that customers manage. `schema` is quoted. */
function createKeyStore (session: Session, schema: string, prefix: string): KeyStore {
  const table = `${schema}.api_keys k`
  const takeTurn = createTurns('API keys')

  function run<Result> (operation: string, work: (call: Call, query: RunQuery) => Promise<Result>): Promise<Result> {
    return session.transaction(operation, (query) => work(callIn(query), query))
  }

  async function find<Found extends ManagedKey | null> (call: Call, tenant: string, id: string): Promise<Found> {
    return JSON.parse(await call(`coalesce((
      select ${managedKeyJson} from ${table} where k.tenant = $1 and k.id = $2
    )::text, 'null')`, [tenant, id]))
  }

  return {
    prefix,

    list: (tenant, { sort, offset, limit }) => readJson<ManagedKey>(session, 'list keys', `
      select ${managedKeyJson}::text as json from ${table} where k.tenant = $1
      ${orderBy(sort, sortColumns)} limit $2 offset $3`, [tenant, limit, offset]),

    count: async (tenant) =>
      Number(await readValue(session, 'count keys', `select count(*) from ${table} where k.tenant = $1`, [tenant])),

    find: (tenant, id) => run('find key', (call) => find<ManagedKey | null>(call, tenant, id)),

    create: (tenant, key, { maxKeys, answer }) => takeTurn(tenant, () => run('create key', async (call, query) => {
      const { tenantSlug, name, scopes, allowedIps, candidateFields, jobFields, expiresInDays } = key
      const limits = { allowed_ips: allowedIps, candidate_fields: candidateFields, job_fields: jobFields }
      const row = { ...formatGenerated(key), tenant, tenant_slug: tenantSlug, name, scopes, ...limits }
      const result = await call(`${schema}.issue_key_v1($1, $2, $3)`, [
        JSON.stringify(row), String(expiresInDays), String(maxKeys)
      ])
      if (isRejection(result)) return result
      if (result !== 'none') throw tenantResting(tenant, result)
      const created = await find<ManagedKey>(call, tenant, key.id)
      await storeAnswer(query, schema, tenant, answer, created)
      return created
    })),

    rotate: (tenant, oldId, key, { overlapSeconds, maxKeys, answer }) =>
      takeTurn(tenant, () => run('rotate key', async (call, query) => {
        const values = [tenant, oldId, JSON.stringify(formatGenerated(key)), String(overlapSeconds), String(maxKeys)]
        const result = await call(`${schema}.rotate_key_v1($1, $2, $3, $4, $5)`, values)
        if (isRejection(result)) return result
        if (result !== 'none') return null
        const created = await find<ManagedKey>(call, tenant, key.id)
        const old = await find<ManagedKey>(call, tenant, oldId)
        const rotated = { ...created, previous_key_expires_at: String(old.expires_at) }
        await storeAnswer(query, schema, tenant, answer, rotated)
        return rotated
      })),

    revoke: (tenant, id, { children }) => takeTurn(tenant, () => run('revoke key', async (call) => {
      const result = await call(`${schema}.revoke_key_v1($1, $2, $3)`, [tenant, id, String(children)])
      if (result === 'busy') return result
      return result === 'missing' ? null : { children: JSON.parse(result).children.length }
    })),

    async selectFamily (tenant, id, { ids, children }) {
      const text = `${selectFamily(schema, '$3')} and k.id = any ($4)`
      const rows = await session.query<{ id: string }>('select family', text, [tenant, id, children, ids])
      return rows.map((row) => row.id)
    }
  }
}

/**
 * Selects the keys of the tenant `$1` that are the key `$2`, that it replaced or, if the SQL condition `children` is
 * true, that are its children. `schema` is quoted.
 */
function selectFamily (schema: string, children: string): string {
  return `
    select k.id from ${schema}.api_keys k
    join ${schema}.api_keys own on own.tenant = $1 and own.id = $2
    where k.tenant = $1 and (
      k.id = own.id or (coalesce(k.line, k.id) = coalesce(own.line, own.id) and k.generation < own.generation)
      or (${children} and (k.ancestors ->> coalesce(own.line, own.id))::integer <= own.generation)
    )`
}

/** The numbers of a key's valid children, of its webhooks, and of its children's webhooks. */
export interface Dependents {
  keys: number
  webhooks: number
  webhooksOfKeys: number
}

/** Returns what `revoke` could also end. `schema` is quoted. */
export async function countDependents (
  database: PgQueryable, schema: string, tenant: string, id: string
): Promise<Dependents> {
  const isValid = 'k.revoked_at is null and coalesce(least(k.expires_at, k.replaced_at) > clock_timestamp(), true)'
  const isOf = (family: string) => `from ${schema}.webhooks w
    where w.tenant = $1 and w.creator_type = 'key' and w.creator_id in (${family})`
  const own = selectFamily(schema, 'false')
  const all = selectFamily(schema, 'true')
  const [row] = await ask<{ json: string }>(database, `
    select json_build_object(
      'keys', (select count(*) from (${all} and ${isValid} except ${own}) as children),
      'webhooks', (select count(*) ${isOf(own)}),
      'webhooksOfKeys', (select count(*) ${isOf(`${all} except ${own}`)})
    )::text as json`, [tenant, id])
  return JSON.parse(String(row?.json))
}

type Busy = KeyRejection | 'busy'

function isRejection (result: string): result is Busy {
  return ['busy', 'full', 'creator_ended', 'too_deep'].includes(result)
}

function formatGenerated ({ id, digest, start, createdBy }: GeneratedKey): object {
  return { id, digest, start, creator_type: createdBy.type, creator_id: createdBy.id }
}
