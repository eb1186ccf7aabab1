import { RecruitingApiError, isRecruitingApiError } from '../errors.js'
import type { IdKinds } from '../ports/index.js'
import { findMigrations, listMigrations } from './migrate.js'
import type { PgPool } from './pool.js'
import { needsCollation } from './lists/id-columns.js'
import type { Relation } from './lists/relation.js'
import { readerOf } from './lists/row-columns.js'
import type { RowKind } from './lists/row-kind.js'
import type { Session } from './session.js'
import { quoteName } from './sql.js'

/** Runs a check, and turns errors of the database into `storage_not_ready` with a hint. */
export async function reportUnreachable<Result> (check: () => Promise<Result>): Promise<Result> {
  try {
    return await check()
  } catch (error) {
    if (isRecruitingApiError(error) && error.code === 'storage_not_ready') throw error
    throw new RecruitingApiError('storage_not_ready', `PostgreSQL cannot be queried, check the pool: ${String(error)}`, 'pool', { cause: error })
  }
}

/** Throws `storage_not_ready` unless all migrations have run. */
export async function assertMigrated (session: Session, schema: string): Promise<void> {
  const done = await findMigrations((text, values) => session.query('look for migrations', text, values), quoteName(schema))
  const missing = (await listMigrations()).filter((name) => !done.has(name))
  if (missing.length === 0) return
  const problem = done.size === 0 ? 'has none of the tables' : `lacks the migrations ${missing.join(', ')}`
  const message = `the schema ${schema} ${problem}: call migrate(pool, { schema: ${JSON.stringify(schema)} }) before the start`
  throw new RecruitingApiError('storage_not_ready', message, 'schema')
}

/** Checks that a relation has the published columns. Returns advice on missing indexes. */
export async function checkRelation (
  source: { describe (kinds: IdKinds): Promise<Relation> },
  kind: RowKind,
  fields: readonly string[],
  kinds: IdKinds
): Promise<string[]> {
  const relation = await source.describe(kinds)
  for (const field of fields) readerOf(relation, kind.option, field)
  return relation.isIndexable ? adviseIndexes(relation, kind) : []
}

/** Without a connection timeout, a server that does not answer blocks callers forever. */
export function advisePool (pool: PgPool): string[] {
  const { options } = pool
  if (options === undefined || Number(options.connectionTimeoutMillis) > 0) return []
  return ['the pool has no connection timeout: set connectionTimeoutMillis, for example 5000']
}

function adviseIndexes (relation: Relation, { searched }: RowKind): string[] {
  const { name, columns, indexes } = relation
  const advice: string[] = []
  const id = needsCollation(relation, 'id') ? 'id collate "C"' : 'id'
  if (!indexes.some((definition) => new RegExp(`\\(tenant_slug, ${id}[ ,)]`, 'i').test(definition))) {
    advice.push(`${name} has no index on (tenant_slug, ${id}): pages read the whole table`)
  }
  if (!indexes.some((definition) => /\(tenant_slug, updated_at\b/.test(definition))) {
    advice.push(`${name} has no index on (tenant_slug, updated_at, ${id}): filter[updated_after] and that sort read the whole tenant`)
  }
  if (!columns.has('name_key')) {
    advice.push(`${name} has no column name_key, generated as lower(${searched}), in an index (tenant_slug, ${id}) include (name_key): filter[q] reads the whole tenant`)
  }
  return advice
}
