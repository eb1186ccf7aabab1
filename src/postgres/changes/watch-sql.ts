import type { ChangeKind } from '../../ports/index.js'
import { quoteLiteral, quoteName } from '../sql.js'
import { RecruitingApiError } from '../../errors.js'
import { readField } from '../../shared/fields.js'
import type { PgQueryable } from '../pool.js'
import { ask } from '../session.js'

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
interface WatchTrigger {
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

/** The type of an expression; `item` is that of an array's items. */
interface ExpressionType {
  name: string
  category: string
  base: string
  item: string | null
}

const sampleRows = 10_000
const idTypes = ['smallint', 'integer', 'bigint', 'numeric', 'uuid']

/**
 * Returns the expressions as SQL that returns text. Throws `invalid_option` for one that cannot return an id or a
 * tenant.
 */
export async function readExpressions (
  client: PgQueryable,
  root: Root,
  { id, tenant }: Pick<Watched, 'id' | 'tenant'>
): Promise<Pick<Watched, 'id' | 'tenant'>> {
  return {
    id: await readIds(client, root, toExpression(root, 'id', id)),
    tenant: await readTenant(client, root, toExpression(root, 'tenant', tenant))
  }
}

/**
 * Tries the expressions on some rows, because a query may return several rows for one of them, or text that is no id.
 */
export async function trySample (client: PgQueryable, root: Root, { kind, id, tenant }: Watched): Promise<void> {
  const sample = `(select * from ${root.name} limit ${sampleRows})`
  for (const [option, expression, isUsable, wanted] of [
    ['id', id, "value ~ '^[!-.0-~]{1,64}$'", `the id of a ${kind}`],
    ['tenant', tenant, 'char_length(value) between 1 and 200', 'the id of a tenant']
  ] as const) {
    await tryNoRow(client, root, option, expression)
    const [row] = await tryOut<{ found: string, usable: string }>(client, option, `
      select count(value)::text as found, count(*) filter (where ${isUsable})::text as usable
      from ${sample} as row cross join lateral (select ${expression}) as item (value)`)
    if (Number(row?.found) > 0 && Number(row?.usable) === 0) {
      refuse(option, `none of the values in ${root.name} can be ${wanted}`)
    }
  }
}

/** Throws for a query that always returns several rows, even if the table is empty: no change could be recorded. */
async function tryNoRow (client: PgQueryable, root: Root, option: string, expression: string): Promise<void> {
  await client.query('savepoint try_no_row')
  const error = await client
    .query(
      `
    select item.value from (select) as one left join ${noRows(root)} as row on true
      cross join lateral (select ${expression}) as item (value)`
    )
    .then(
      () => null,
      (error: unknown) => error
    )
  await client.query('rollback to try_no_row')
  // Other errors may come from the missing values.
  if (readField(error, 'code') === '21000') refuse(option, String(readField(error, 'message')), error)
}

/** A name that is no column is more likely a typing error than an expression. */
function toExpression ({ name, columns }: Root, option: string, given: string): string {
  if ((JSON.parse(columns) as string[]).includes(given)) return `row.${quoteName(given)}`
  if (/^[\p{L}\p{N}_$]+$/u.test(given)) refuse(option, `${name} has no column ${given}`)
  return given
}

/** One id, or several: those of an array, of a function that returns a set, or of a query. */
async function readIds (client: PgQueryable, root: Root, expression: string): Promise<string> {
  if (await isQuery(client, root, expression)) {
    assertType('id', await readType(client, root, 'id', `(${expression}\n)`))
    return `unnest(array(${expression}\n)::text[]) collate "C"`
  }
  const type = await readType(client, root, 'id', expression)
  assertType('id', { ...type, base: type.item ?? type.base, item: null })
  return type.item === null ? `(${expression}\n)::text collate "C"` : `unnest((${expression}\n)::text[]) collate "C"`
}

async function readTenant (client: PgQueryable, root: Root, expression: string): Promise<string> {
  assertType('tenant', await readType(client, root, 'tenant', expression))
  // A set of tenants would record each id for each of them. PostgreSQL rejects sets in a where clause.
  await tryOut(client, 'tenant', `select from ${noRows(root)} as row where (${expression}\n) is null`)
  return `(${expression}\n)::text collate "C"`
}

function assertType (option: string, { name, category, base, item }: ExpressionType): void {
  const isPossible = item === null && (['S', 'E'].includes(category) || idTypes.includes(base))
  if (!isPossible) refuse(option, `expected text, an integer or a uuid, got ${name}`)
}

/** Reads the type of an expression without computing it. */
async function readType (client: PgQueryable, root: Root, option: string, expression: string): Promise<ExpressionType> {
  const [type] = await tryOut<ExpressionType>(client, option, `
    select format_type(t.oid, null) as name, coalesce(i.typcategory, t.typcategory)::text as category,
      format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null) as base,
      case when t.typcategory = 'A' then format_type(coalesce(nullif(i.typbasetype, 0), i.oid), null) end as item
    from (select) as one
    left join (${noRows(root)} as row cross join lateral (select ${expression}\n) as item (value)) on true
    join pg_type t on t.oid = pg_typeof(item.value)
    left join pg_type i on i.oid = t.typelem and t.typcategory = 'A'`)
  return { name: '', category: '', base: '', item: null, ...type }
}

function noRows (root: Root): string {
  return `(select * from ${root.name} where false)`
}

async function isQuery (client: PgQueryable, root: Root, expression: string): Promise<boolean> {
  await client.query('savepoint try_query')
  const isQuery = await client.query(`select array(${expression}\n) from ${noRows(root)} as row`)
    // Errors of a query that are not about its syntax are found again when its type is read.
    .then(() => true, (error: unknown) => readField(error, 'code') !== '42601')
  await client.query('rollback to try_query')
  return isQuery
}

/** Runs a statement; errors in its text or its values, and missing rights, are those of an option. */
export async function tryOut<Row> (
  client: PgQueryable,
  option: string,
  text: string,
  values?: unknown[]
): Promise<Row[]> {
  try {
    return await ask<Row>(client, text, values)
  } catch (error) {
    if (!/^(0A|2[12]|42)/.test(String(readField(error, 'code')))) throw error
    return refuse(option, String(readField(error, 'message')), error)
  }
}

/** Throws `invalid_option`. */
export function refuse (option: string, problem: string, cause?: unknown): never {
  throw new RecruitingApiError('invalid_option', `${option}: ${problem}`, option, cause === undefined ? {} : { cause })
}
