import { RecruitingApiError, isRecruitingApiError } from '../errors.js'
import type { PublishedFields } from '../ports/index.js'
import type { PgPool } from './pool.js'
import { needsCollation, type TenantRelation } from './lists/columns.js'
import { readerOf, type RowKind } from './lists/row-kind.js'
import type { RelationSource } from './lists/row-source.js'
import type { Session } from './session.js'
import { findMissing, listNames, readVersion } from './upgrade/version.js'

/** Runs a check, and turns errors of the database into `storage_not_ready` with a hint. */
export async function reportUnreachable<Result> (check: () => Promise<Result>): Promise<Result> {
  try {
    return await check()
  } catch (error) {
    if (isRecruitingApiError(error) && error.code === 'storage_not_ready') throw error
    throw new RecruitingApiError(
      'storage_not_ready',
      `PostgreSQL cannot be queried, check the pool: ${String(error)}`,
      'pool',
      { cause: error }
    )
  }
}

/** Throws `storage_not_ready` unless the schema has what this version needs. */
export async function assertMigrated (session: Session, schema: string): Promise<void> {
  const missing = await findMissing(
    (text, values) => session.query('look for migrations', text, values),
    schema,
    await readVersion()
  )
  const files = listNames(missing)
  if (files.length === 0) return
  const problem = missing.isNew ? 'has none of the tables' : `lacks the migrations ${files.join(', ')}`
  const message = `the schema ${schema} ${problem}: call migrate(pool, { schema: ${JSON.stringify(schema)} }) before the start`
  throw new RecruitingApiError('storage_not_ready', message, 'schema')
}

/** Checks that a relation has the published columns. Returns advice on the indexes of a table. */
export async function checkRelation (
  source: Pick<RelationSource<never, never, never>, 'describe'>,
  kind: RowKind,
  published: PublishedFields
): Promise<string[]> {
  const { ids, hasTenantIds = false, [kind.option]: fields } = published
  const relation = await source.describe(ids, hasTenantIds)
  for (const field of fields) readerOf(relation, kind.option, field)
  return relation.isIndexable ? adviseIndexes(relation, kind) : []
}

/** Without a connection timeout, a server that does not answer blocks callers forever. */
export function advisePool (pool: PgPool): string[] {
  const { options } = pool
  if (options === undefined || Number(options.connectionTimeoutMillis) > 0) return []
  return ['the pool has no connection timeout: set connectionTimeoutMillis, for example 5000']
}

function adviseIndexes (relation: TenantRelation, { searched }: RowKind): string[] {
  const { name, columns, indexes, tenantColumn } = relation
  const advice: string[] = []
  const id = needsCollation(relation, 'id') ? 'id collate "C"' : 'id'
  if (!indexes.some((definition) => new RegExp(`\\(${tenantColumn}, ${id}[ ,)]`, 'i').test(definition))) {
    advice.push(`${name} has no index on (${tenantColumn}, ${id}): pages read the whole table`)
  }
  if (!indexes.some((definition) => new RegExp(`\\(${tenantColumn}, updated_at\\b`).test(definition))) {
    advice.push(
      `${name} has no index on (${tenantColumn}, updated_at, ${id}): filter[updated_after] and that sort read the whole tenant`
    )
  }
  if (!columns.has('name_key')) {
    advice.push(
      `${name} has no column name_key, generated as lower(${searched}), in an index (${tenantColumn}, ${id}) include (name_key): filter[q] reads the whole tenant`
    )
  }
  return advice
}
