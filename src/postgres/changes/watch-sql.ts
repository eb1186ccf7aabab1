import type { ChangeKind } from '../../ports/index.js'
import { quoteLiteral, quoteName } from '../sql.js'

/** The table that `watch` was called for. */
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

/** The changes that triggers on a table record. */
export interface Watched {
  kind: ChangeKind
  /** SQL expressions over `row` that return text; `id` may return a set. */
  id: string
  tenant: string
}

/** A trigger for one kind of statement. */
export interface WatchTrigger {
  name: string
  /** The part of `create trigger` before the table, and the part after it. */
  event: string
  transition: string
}

/**
 * Returns the triggers of a table. The schema, not quoted, at the end of their names is cut by PostgreSQL if it is
 * too long.
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
 * Returns the body of the function that the triggers call; `schema` is quoted. It never fails the statement of the
 * host: if an expression fails, it stores that changes were missed. A block with `exception` is a subtransaction, one
 * for each statement.
 */
export function formatTriggerBody (
  watched: Watched,
  root: Pick<Root, 'name' | 'schema' | 'table'>,
  schema: string
): string {
  const record = (...sources: string[]): string => formatRecord(watched, schema, sources)
  const place = '<table>'
  const [before, after] = record(`only ${place}`).split(place).map(quoteLiteral)
  const key = [watched.kind, root.schema, root.table].map(quoteLiteral).join(', ')
  return `
#variable_conflict use_column
declare
  v_problem text;
begin
  begin
    perform ${formatStartRecording(schema)};
    case tg_op
      when 'INSERT' then ${record('new_rows')};
      when 'UPDATE' then ${record('old_rows', 'new_rows')};
      when 'DELETE' then ${record('old_rows')};
      else execute ${before} || format('%I.%I', tg_table_schema, tg_table_name) || ${after};
    end case;
  exception when others then
    v_problem := sqlerrm;
    begin
      insert into ${schema}.missed_changes (kind, schema_name, table_name, problem)
      select ${key}, left(v_problem, 500)
      where not exists (
        select from ${schema}.missed_changes m where (m.kind, m.schema_name, m.table_name) = (${key})
      );
      if found then
        raise warning 'fastify-recruiting-api: the changes of % are no longer recorded, call watch again: %',
          ${quoteLiteral(root.name)}, v_problem;
      end if;
    exception when others then
      raise warning 'fastify-recruiting-api: the changes of % are no longer recorded, and neither is that (%), call watch again: %',
        ${quoteLiteral(root.name)}, sqlerrm, v_problem;
    end;
  end;
  return null;
end`
}

/** Returns the statements that create the function of triggers, and the triggers on `tables`. Names are quoted. */
export function formatTriggers (
  { name, body, searchPath }: { name: string; body: string; searchPath: string },
  triggers: readonly WatchTrigger[],
  tables: readonly string[]
): string[] {
  return [
    `create or replace function ${name}() returns trigger language plpgsql security definer
    set search_path to ${searchPath}, pg_temp set row_security to off set jit to off
    as ${quoteLiteral(body)}`,
    ...tables.flatMap((table) =>
      triggers.map(
        ({ name: trigger, event, transition }) =>
          `create or replace trigger ${trigger} ${event} on ${table} ${transition} for each statement execute function ${name}()`
      )
    )
  ]
}

/** Returns the call that must come before `formatRecord` in a transaction; `schema` is quoted. */
export function formatStartRecording (schema: string): string {
  return `${schema}.start_recording_v1(${quoteLiteral(`${schema}.recent_changes_seq_seq`)})`
}

/**
 * Returns the SQL that records which candidates or jobs these rows belong to. An update that changes neither id nor
 * tenant is recorded once. Ids that the API cannot show are left out.
 */
export function formatRecord ({ kind, id, tenant }: Watched, schema: string, sources: readonly string[]): string {
  const entities = sources.map((source) => `select ${tenant} as tenant, ${id} as id from ${source} as row`)
  return `
    insert into ${schema}.recent_changes (tenant, kind, id, deleted, changed_at)
    select e.tenant, '${kind}', e.id, false, clock_timestamp()
    from (${entities.join(' union ')}) as e
    where char_length(e.tenant) between 1 and 200 and e.id ~ '^[!-.0-~]{1,64}$'`
}
