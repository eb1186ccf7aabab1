import type { ChangeKind } from '../../ports/index.js'
import { type OptionsOf, readOptions } from '../../shared/read-options.js'
import { assertPool, inTransaction, type PgPool, type PgQueryable } from '../pool.js'
import { ask, type RunQuery } from '../session.js'
import { quoteLiteral, quoteName, readSchema, toIso } from '../sql.js'
import { formatRecord, formatStartRecording, type Root, type Watched } from './watch-sql.js'

/** A table that `watch` was called for. Names are quoted, with their schema. */
export interface WatchedTable {
  kind: ChangeKind
  name: string
  /** As given to `watch`. */
  id: string
  tenant: string
  /** Whether a table of this name exists. */
  isThere: boolean
  /** The table, its partitions and their triggers, as `watch` left them and as they are. */
  parts: string[]
  found: string[]
  /** Those of the tables whose triggers are missing or disabled. */
  lost: string[]
  /** Partitions that `watch` has not seen. */
  added: string[]
  /**
   * When a trigger first could not record a change, in RFC 3339, and its error. `null` if all changes were recorded.
   */
  missedSince: string | null
  problem: string | null
}

/** Lists the watched tables of a kind by name; `schema` is quoted. */
export async function listWatchedTables (query: RunQuery, schema: string, kind: ChangeKind): Promise<WatchedTable[]> {
  const rows = await query<{ value: string }>(
    `
    select json_build_object('name', relation, 'id', id_expression, 'tenant', tenant_expression, 'isThere', is_there,
      'parts', parts,
      'found', found, 'lost', lost, 'added', added,
      'missedSince', ${toIso('missed_since')}, 'problem', problem)::text as value
    from ${schema}.watched_tables_v1($1)`,
    [kind]
  )
  return rows.map(({ value }) => ({ kind, ...JSON.parse(value) }))
}

/** Returns the problems of a watched table, as sentences. */
export function describeLosses ({ kind, name, lost, added, missedSince, problem }: WatchedTable): string[] {
  return [
    ...(missedSince === null
      ? []
      : [
          `${name}, watched for ${kind}s, has missed changes since ${missedSince}, because its trigger failed (${problem}): ` +
            `${kind}s/sync answers 410 until watch is called for ${name} again`
        ]),
    ...lost.map(
      (table) =>
        `${table}, watched for ${kind}s, has lost a trigger or has a disabled one: ${kind}s/sync answers 404 until watch is called for ${name} again`
    ),
    ...added.map(
      (table) =>
        `${table} became a partition of ${name}, which is watched for ${kind}s, and is not watched itself: call watch for ${name} again`
    )
  ]
}

/** Returns warnings about watched tables; `schema` is quoted. */
export async function adviseWatch (query: RunQuery, schema: string): Promise<string[]> {
  const tables = [
    ...(await listWatchedTables(query, schema, 'candidate')),
    ...(await listWatchedTables(query, schema, 'job'))
  ]
  return tables.flatMap(describeLosses)
}

/** Returns whether the triggers of a table are as `watch` left them, and recorded every change. */
export function isAsLeft (table: WatchedTable | undefined): boolean {
  return table !== undefined && table.parts.join() === table.found.join() && table.missedSince === null
}

/**
 * Remembers a table and its triggers, which are complete now. Tokens stay valid if only partitions were added: their
 * rows are recorded. Otherwise the changes in between are unknown, and the tokens of the kind end.
 */
export async function registerTable (
  client: PgQueryable, schema: string, root: Root, { watched, options }: { watched: Watched, options: WatchedColumns }
): Promise<void> {
  const table = await findWatchedTable(client, schema, watched.kind, root)
  const isKnown = table !== undefined && table.missedSince === null && table.parts.length > 0 &&
    table.parts.every((part) => table.found.includes(part))
  if (isKnown) await client.query(`select ${formatStartRecording(schema)}`)
  if (isKnown) for (const name of table.added) await client.query(formatRecord(watched, schema, [`only ${name}`]))
  for (const statement of formatRegistration(
    schema,
    root,
    { kind: watched.kind, ...options },
    { endsTokens: !isKnown }
  )) {
    await client.query(statement)
  }
}

/** The columns or expressions, as given to `watch`. */
type WatchedColumns = Pick<Watched, 'id' | 'tenant'>

/** Returns the statements that remember a table with its triggers; `schema` is quoted. */
export function formatRegistration (
  schema: string,
  { schema: schemaName, table }: Root,
  { kind, id, tenant }: Watched,
  { endsTokens }: { endsTokens: boolean }
): string[] {
  const key = [kind, schemaName, table].map(quoteLiteral).join(', ')
  const tables = `${schema}.watched_tables`
  const found = `${schema}.watched_tables_v1('${kind}')`
  return [
    `insert into ${tables} (kind, schema_name, table_name, id_expression, tenant_expression)
    values (${key}, ${quoteLiteral(id)}, ${quoteLiteral(tenant)})
    on conflict (kind, schema_name, table_name) do update
    set id_expression = excluded.id_expression, tenant_expression = excluded.tenant_expression`,
    `update ${tables} w set parts = now.found${endsTokens ? ', id = gen_random_uuid()' : ''}
    from ${found} now
    where (w.kind, w.schema_name, w.table_name) = (${key}) and now.id = w.id`,
    // A table under its earlier name.
    `delete from ${tables} w using ${found} now where now.id = w.id and not now.is_there`,
    `delete from ${schema}.missed_changes m where m.kind = '${kind}'
      and ((m.kind, m.schema_name, m.table_name) = (${key})
      or not exists (
        select from ${tables} w where (w.kind, w.schema_name, w.table_name) = (m.kind, m.schema_name, m.table_name)
      ))`
  ]
}

/** Returns the watched table of this name; `schema` is quoted. */
export async function findWatchedTable (
  client: PgQueryable, schema: string, kind: ChangeKind, { name }: Root
): Promise<WatchedTable | undefined> {
  const tables = await listWatchedTables((text, values) => ask(client, text, values), schema, kind)
  return tables.find((table) => table.name === name)
}

/** The doc, type, default and check of each option. */
const endOptions = {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema: readSchema
}

/** Options of `endSyncTokens`. */
export interface EndSyncTokensOptions extends OptionsOf<typeof endOptions> {}

/**
 * Ends all tokens of `sync`: each client gets a 410 once and begins again. Call it after rows changed in a way that
 * no trigger sees, for example with `session_replication_role = replica`, by logical replication, or when a snapshot
 * of the disk was restored. In SQL: `select recruiting.end_sync_tokens()`. Throws `invalid_option`, and errors of the
 * database.
 */
export async function endSyncTokens (pool: PgPool, options: EndSyncTokensOptions = {}): Promise<void> {
  assertPool(pool)
  const { schema } = readOptions(options, endOptions)
  await inTransaction(pool, (client) => client.query(`select ${quoteName(schema)}.end_sync_tokens()`))
}
