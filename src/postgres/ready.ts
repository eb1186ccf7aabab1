import { RecruitingApiError } from '../errors.js'
import { listMigrations } from './migrate.js'
import type { PgPool } from './pool.js'
import type { Relation } from './relation.js'
import { readerOf } from './row-columns.js'
import type { RowKind } from './row-kind.js'
import type { RowSource } from './row-source.js'
import type { Session } from './session.js'

/** Looks whether the tables of this package are there and up to date. Throws `storage_not_ready`. */
export async function assertMigrated (session: Session, schema: string, quotedSchema: string): Promise<void> {
  const advice = `call migrate(pool, { schema: ${JSON.stringify(schema)} }) before the start`
  const [found] = await session.query<{ is_there: boolean }>('look for tables',
    'select to_regclass($1) is not null as is_there', [`${quotedSchema}.migrations`])
  if (found?.is_there !== true) throw notReady(`the schema ${schema} has none of the tables: ${advice}`)

  const rows = await session.query<{ name: string }>('read migrations', `select name from ${quotedSchema}.migrations`)
  const done = new Set(rows.map(({ name }) => name))
  const missing = (await listMigrations()).filter((name) => !done.has(name))
  if (missing.length > 0) throw notReady(`the schema ${schema} lacks the migrations ${missing.join(', ')}: ${advice}`)
}

/** Looks whether a relation has the columns that are published, and returns what of it will be slow. */
export async function checkRelation (source: RowSource, kind: RowKind, fields: readonly string[]): Promise<string[]> {
  const relation = await source.describe()
  for (const field of fields) readerOf(relation, kind.option, field)
  return relation.isIndexable ? adviseIndexes(relation, kind) : []
}

/** A pool that waits for connections without end cannot get over a server that does not answer. */
export function advisePool (pool: PgPool & { options?: { connectionTimeoutMillis?: unknown } }): string[] {
  const { options } = pool
  if (options === undefined || Number(options.connectionTimeoutMillis) > 0) return []
  return ['the pool waits for connections without end: set connectionTimeoutMillis, such as 5000']
}

function adviseIndexes ({ name, columns, indexes }: Relation, { searched }: RowKind): string[] {
  const leading = indexes.map((definition) => /\((.*?)\)/s.exec(definition)?.[1]?.replaceAll('"', '') ?? '')
  const advice: string[] = []
  if (!leading.some((list) => /^tenant_slug, id\b/.test(list))) {
    advice.push(`${name} has no index on (tenant_slug, id): pages read the whole table`)
  }
  if (!leading.some((list) => /^tenant_slug, updated_at\b/.test(list))) {
    advice.push(`${name} has no index on (tenant_slug, updated_at, id): filter[updated_after] and that sort read the whole tenant`)
  }
  if (!columns.has('name_key')) {
    advice.push(`${name} has no column name_key, generated as lower(${searched}), in an index (tenant_slug, id) include (name_key): filter[q] reads the whole tenant`)
  }
  return advice
}

function notReady (message: string): RecruitingApiError {
  return new RecruitingApiError('storage_not_ready', message)
}
