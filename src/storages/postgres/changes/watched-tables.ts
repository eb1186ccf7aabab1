import type { ChangeKind } from '../../../core/ports/index.js'
import type { PgQueryable } from '../pool.js'
import { ask, type RunQuery } from '../session.js'
import { quoteLiteral, quoteName, toIso } from '../sql.js'

export interface Root {
  oid: string
  /** Quoted, with its schema. */
  name: string
  /** Not quoted. */
  schema: string
  table: string
  kind: string
  /** A JSON array of their names. */
  columns: string
}

export interface Watched {
  kind: ChangeKind
  /** SQL expressions over `row` that return text; `id` may return a set. */
  id: string
  tenant: string
  emits: readonly Emitted[]
}

/** An event that the triggers emit. */
export interface Emitted {
  type: string
  on: 'insert' | 'update' | 'delete'
  /** The statement that emits it for each row; it follows `perform` or `select`. */
  call: (from: { rows: string, before: string, isTried?: boolean }) => string
}

interface WatchTrigger {
  name: string
  /** The parts of `create trigger` before and after the table. */
  event: string
  transition: string
}

/**
 * Returns a table's triggers. Their names end with the schema, not quoted, which PostgreSQL truncates if it is too
 * long.
 */
export function listTriggers (kind: ChangeKind, schema: string): WatchTrigger[] {
  return [
    { event: 'after insert', transition: 'referencing new table as new_rows' },
    { event: 'after update', transition: 'referencing old table as old_rows new table as new_rows' },
    { event: 'after delete', transition: 'referencing old table as old_rows' },
    { event: 'before truncate', transition: '' }
  ].map((trigger) => ({ ...trigger, name: quoteName(`changes_${kind}_${trigger.event.split(' ').at(-1)}_${schema}`) }))
}

/**
 * Returns the body of the trigger function; `schema` is quoted. It never makes the host's statement fail: if an
 * expression fails, it records that changes or events were missed. A block with `exception` costs one subtransaction
 * per statement. Functions whose arguments are not exactly of the declared types are qualified: a better match in the
 * table's schema would run with the owner's rights.
 */
export function formatTriggerBody (
  watched: Watched, root: Pick<Root, 'name' | 'schema' | 'table'>, schema: string
): string {
  const record = (...sources: string[]): string => formatRecord(watched, schema, sources)
  const place = '<table>'
  const [before, after] = record(`only ${place}`).split(place).map(quoteLiteral)
  const key = [watched.kind, root.schema, root.table].map(quoteLiteral).join(', ')
  const attempt = (work: string, eventType: string | null): string => {
    const type = eventType === null ? 'null' : quoteLiteral(eventType)
    const lost = eventType === null ? 'the changes of % are no longer recorded' : `events of ${eventType} of % are missing`
    return `
  begin
    ${work}
  exception when others then
    v_problem := sqlerrm;
    begin
      insert into ${schema}.missed_changes (kind, schema_name, table_name, event_type, problem)
      select ${key}, ${type}, left(v_problem, 500)
      where not exists (
        select from ${schema}.missed_changes m
        where (m.kind, m.schema_name, m.table_name) = (${key}) and m.event_type is not distinct from ${type}
      );
      if found then
        raise warning 'fastify-recruiting-api: ${lost}, call watch again: %', ${quoteLiteral(root.name)}, v_problem;
      end if;
    exception when others then
      raise warning 'fastify-recruiting-api: ${lost}, and this was not recorded (%), call watch again: %',
        ${quoteLiteral(root.name)}, sqlerrm, v_problem;
    end;
  end;`
  }
  const changes = `perform ${formatStartRecording(schema)};
    case tg_op
      when 'INSERT' then ${record('new_rows')};
      when 'UPDATE' then ${record('old_rows', 'new_rows')};
      when 'DELETE' then ${record('old_rows')};
      else execute ${before} || pg_catalog.format('%I.%I', tg_table_schema, tg_table_name) || ${after};
    end case;`
  const emits = watched.emits.map(({ type, on, call }) => `
  if tg_op = '${on.toUpperCase()}' then${attempt(`perform ${
    call({ rows: on === 'delete' ? 'old_rows' : 'new_rows', before: 'old_rows' })};`, type)}
  end if;`)
  return `
#variable_conflict use_column
declare
  v_problem text;
begin${attempt(changes, null)}${emits.join('')}
  return null;
end`
}

/** Returns the statements that create the trigger function and the triggers on `tables`. Names are quoted. */
export function formatTriggers (
  { name, body, searchPath }: { name: string; body: string; searchPath: string },
  triggers: readonly WatchTrigger[], tables: ReadonlyArray<{ name: string }>
): string[] {
  return [
    `create or replace function ${name}() returns trigger language plpgsql security definer
    set search_path to ${searchPath}, pg_temp set row_security to off set jit to off
    as ${quoteLiteral(body)}`,
    // A replaced function keeps its owner, who may have lost the rights to record changes.
    `alter function ${name}() owner to current_user`,
    ...tables.flatMap((table) => triggers.map(({ name: trigger, event, transition }) =>
      `create or replace trigger ${trigger} ${event} on ${table.name} ${transition} ` +
        `for each statement execute function ${name}()`))
  ]
}

/** Returns the call that must come before `formatRecord` in a transaction; `schema` is quoted. */
function formatStartRecording (schema: string): string {
  return `${schema}.start_recording_v1(${quoteLiteral(`${schema}.recent_changes_seq_seq`)})`
}

/**
 * Returns the SQL that records which items these rows belong to. An update that changes neither id nor
 * tenant is recorded once. Skips ids that the API cannot show.
 */
export function formatRecord (
  { kind, id, tenant }: Pick<Watched, 'kind' | 'id' | 'tenant'>, schema: string, sources: readonly string[]
): string {
  const entities = sources.map((source) => `select ${tenant} as tenant, ${id} as id from ${source} as row`)
  return `
    insert into ${schema}.recent_changes (tenant, kind, id, deleted, changed_at)
    select e.tenant, '${kind}', e.id, false, clock_timestamp()
    from (${entities.join(' union ')}) as e
    where char_length(e.tenant) between 1 and 200 and e.id ~ '^[!-.0-~]{1,64}$'`
}

/** A table that `watch` was called for. Names are quoted, with their schema. */
export interface WatchedTable {
  kind: ChangeKind
  name: string
  id: string
  tenant: string
  isThere: boolean
  /** The table, its partitions and their triggers, as `watch` left them and as they are now. */
  parts: string[]
  found: string[]
  lost: string[]
  /** Partitions created after the last `watch`. */
  added: string[]
  /** When a trigger first failed to record a change, in RFC 3339, and its error. `null` if none failed. */
  missedSince: string | null
  problem: string | null
  /** The events that its triggers emit, as passed to `watch`. `null` without any. */
  emit: unknown
  /** The types of events that a trigger failed to emit, since when, and the error. */
  missedEvents: Array<{ type: string, since: string, problem: string }>
}

/** Lists the watched tables of a kind, or of all kinds, sorted by kind and name; `schema` is quoted. */
export async function listWatchedTables (
  query: RunQuery, schema: string, kind: ChangeKind | null
): Promise<WatchedTable[]> {
  const rows = await query<{ value: string }>(
    `
    select json_build_object('kind', of.kind, 'name', relation, 'id', id_expression, 'tenant', tenant_expression,
      'isThere', is_there, 'parts', parts,
      'found', found, 'lost', lost, 'added', added,
      'missedSince', ${toIso('missed_since')}, 'problem', problem,
      'emit', (select w.emits from ${schema}.watched_tables w where w.id = found_table.id),
      'missedEvents', (
        select coalesce(json_agg(json_build_object(
          'type', m.event_type, 'since', ${toIso('m.missed_at')}, 'problem', m.problem
        ) order by m.id), '[]')
        from ${schema}.missed_changes m join ${schema}.watched_tables w
          on (w.kind, w.schema_name, w.table_name) = (m.kind, m.schema_name, m.table_name)
        where w.id = found_table.id and m.event_type is not null
      ))::text as value
    from (
      select distinct kind from ${schema}.watched_tables where $1::text is null or kind = $1 order by kind
    ) as of cross join lateral ${schema}.watched_tables_v1(of.kind) as found_table`,
    [kind]
  )
  return rows.map(({ value }) => JSON.parse(value))
}

export function describeLosses (
  { kind, name, lost, added, missedSince, problem, missedEvents }: WatchedTable
): string[] {
  const missed = `${name}, watched for the kind ${kind}, has missed changes since ${missedSince}, because its trigger failed ` +
    `(${problem}): sync of this kind returns 410 until watch is called for ${name} again`
  return [
    ...missedSince === null ? [] : [missed],
    ...missedEvents.map(({ type, since, problem: cause }) =>
      `${name}, watched for the kind ${kind}, has not emitted events of ${type} since ${since}, because its trigger ` +
        `failed (${cause}): they are missing. Call watch for ${name} with a corrected emit, or delete its rows with an ` +
        'event_type from missed_changes to forget them'),
    ...lost.map((table) =>
      `${table}, watched for the kind ${kind}, has lost a trigger or has a disabled one: ` +
        `sync of this kind returns 404 until watch is called for ${name} again`),
    ...added.map((table) =>
      `${table} became a partition of ${name}, which is watched for the kind ${kind}, and is not watched itself: ` +
        `call watch for ${name} again`)
  ]
}

export async function adviseWatch (query: RunQuery, schema: string): Promise<string[]> {
  return (await listWatchedTables(query, schema, null)).flatMap(describeLosses)
}

/** Returns whether a table's triggers are as `watch` left them and recorded every change. */
export function isAsLeft (table: WatchedTable | undefined): boolean {
  return table !== undefined && table.parts.join() === table.found.join() && table.missedSince === null
}

/**
 * Stores a table and its triggers, which are now complete. Tokens stay valid if only partitions were added: their rows
 * are recorded. Otherwise changes may be missing, and the kind's tokens expire.
 */
export async function registerTable (
  client: PgQueryable, schema: string, root: Root, { watched, options }: { watched: Watched, options: Registration }
): Promise<void> {
  const table = await findWatchedTable(client, schema, watched.kind, root)
  const isKnown = table !== undefined && table.missedSince === null && table.parts.length > 0 &&
    table.parts.every((part) => table.found.includes(part))
  if (isKnown) await client.query(`select ${formatStartRecording(schema)}`)
  if (isKnown) for (const name of table.added) await client.query(formatRecord(watched, schema, [`only ${name}`]))
  for (const statement of formatRegistration(schema, root, options, { endsTokens: !isKnown })) {
    await client.query(statement)
  }
}

/** The options of `watch` that are stored. */
interface Registration extends Pick<Watched, 'kind' | 'id' | 'tenant'> {
  emit: readonly object[]
}

/** Returns the statements that store a table, as passed to `watch`, with its triggers; `schema` is quoted. */
export function formatRegistration (
  schema: string, { schema: schemaName, table }: Root, { kind, id, tenant, emit }: Registration,
  { endsTokens }: { endsTokens: boolean }
): string[] {
  const key = [kind, schemaName, table].map(quoteLiteral).join(', ')
  const tables = `${schema}.watched_tables`
  const found = `${schema}.watched_tables_v1('${kind}')`
  return [
    `insert into ${tables} (kind, schema_name, table_name, id_expression, tenant_expression, emits)
    values (${key}, ${quoteLiteral(id)}, ${quoteLiteral(tenant)},
      ${emit.length === 0 ? 'null' : quoteLiteral(JSON.stringify(emit))})
    on conflict (kind, schema_name, table_name) do update
    set id_expression = excluded.id_expression, tenant_expression = excluded.tenant_expression, emits = excluded.emits`,
    `update ${tables} w set parts = now.found${endsTokens ? ', id = gen_random_uuid()' : ''}
    from ${found} now
    where (w.kind, w.schema_name, w.table_name) = (${key}) and now.id = w.id`,
    // Deletes a renamed table's old entry.
    `delete from ${tables} w using ${found} now where now.id = w.id and not now.is_there`,
    `delete from ${schema}.missed_changes m where m.kind = '${kind}'
      and ((m.kind, m.schema_name, m.table_name) = (${key})
      or not exists (
        select from ${tables} w where (w.kind, w.schema_name, w.table_name) = (m.kind, m.schema_name, m.table_name)
      ))`
  ]
}

export async function findWatchedTable (
  client: PgQueryable, schema: string, kind: ChangeKind, { name }: Root
): Promise<WatchedTable | undefined> {
  const tables = await listWatchedTables((text, values) => ask(client, text, values), schema, kind)
  return tables.find((table) => table.name === name)
}
