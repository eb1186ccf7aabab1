import type { ChangeKind } from '../../ports/index.js'
import { quoteLiteral, quoteName } from '../sql.js'

/** The changes that triggers on a table record. */
export interface Watched {
  kind: ChangeKind
  /** SQL expressions over `row` that give text; `id` may give a set. */
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

/** Returns the triggers of a table. The schema at the end of their names is cut by PostgreSQL if it is too long. */
export function listTriggers (kind: ChangeKind, schema: string): WatchTrigger[] {
  return [
    { event: 'after insert', transition: 'referencing new table as new_rows' },
    { event: 'after update', transition: 'referencing old table as old_rows new table as new_rows' },
    { event: 'after delete', transition: 'referencing old table as old_rows' },
    { event: 'before truncate', transition: '' }
  ].map((trigger) => ({ ...trigger, name: quoteName(`changes_${kind}_${trigger.event.split(' ').at(-1)}_${schema}`) }))
}

/** Returns the body of the function that the triggers call; `schema` is quoted. */
export function formatTriggerBody (watched: Watched, schema: string): string {
  const record = (...sources: string[]): string => formatRecord(watched, schema, sources)
  const place = '<table>'
  const [before, after] = record(`only ${place}`).split(place).map(quoteLiteral)
  return `
#variable_conflict use_column
begin
  case tg_op
    when 'INSERT' then ${record('new_rows')};
    when 'UPDATE' then ${record('old_rows', 'new_rows')};
    when 'DELETE' then ${record('old_rows')};
    else execute ${before} || format('%I.%I', tg_table_schema, tg_table_name) || ${after};
  end case;
  return null;
end`
}

/**
 * Returns the statement that records what the rows of some sources concern. An update that changes neither id nor tenant is
 * recorded once. Ids that the API cannot show are left out.
 */
export function formatRecord ({ kind, id, tenant }: Watched, schema: string, sources: readonly string[]): string {
  const entities = sources.map((source) => `select ${tenant} as tenant, ${id} as id from ${source} as row`)
  return `
    insert into ${schema}.recent_changes (tenant, kind, id, xid, deleted, changed_at)
    select e.tenant, '${kind}', e.id, pg_current_xact_id(), false, clock_timestamp()
    from (${entities.join(' union ')}) as e
    where char_length(e.tenant) between 1 and 200 and e.id ~ '^[!-.0-~]{1,64}$'`
}
