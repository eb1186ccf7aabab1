import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { packageFolder } from '../../../core/shared/files.js'
import type { RunQuery } from '../session.js'
import { quoteName } from '../sql.js'
import { readVersion } from './version.js'

/**
 * The parts of a schema: tables, columns, functions and so on, each with its definition. A key is a kind and a
 * name, such as `column queue.lane`.
 */
export type Description = ReadonlyMap<string, string>

/** Returns the kind of an object, its table or function, and the rest of its name. */
export function parseKey (key: string) {
  const [, kind = '', owner = '', name = ''] = /^([\w-]+) ([^.(]+)\.?(.*)$/.exec(key) ?? []
  return { kind, owner, name }
}

/**
 * Describes a schema from the catalog, which every role may read. A table that another transaction has locked is only
 * listed, as `locked`: reading its indexes would wait. Needs a transaction. `schema` is not quoted.
 */
export async function describeSchema (query: RunQuery, schema: string): Promise<Map<string, string>> {
  // Every name then includes its schema, which the statement removes.
  await query('set local search_path to pg_catalog; set local quote_all_identifiers to off')
  const rows = await query<{ key: string, definition: string }>(text, [schema])
  return new Map(rows.map(({ key, definition }) => [key, definition]))
}

/** Counts the rows of tables that are never empty. */
export async function countRows (
  query: RunQuery, schema: string, tables: readonly string[]
): Promise<Map<string, string>> {
  const counts = tables.map((table) =>
    `select 'rows ${table}' as key, count(*)::text as count from ${quoteName(schema)}.${table}`)
  const rows = counts.length === 0 ? [] : await query<{ key: string, count: string }>(counts.join(' union all '))
  return new Map(rows.map(({ key, count }) => [key, count]))
}

/** The file to which the build writes what the migrations create. */
export const descriptionFile = new URL('dist/schema.json', packageFolder())

/**
 * Reads what this version's `migrate` creates. Function bodies come from their files. The rest is in a file, because
 * creating a schema to compare with would need privileges and writes to the database.
 */
export async function readExpected (): Promise<Description> {
  const { functions } = await readVersion()
  const written = Object.entries(JSON.parse(await readFile(descriptionFile, 'utf8')) as Record<string, string>)
  const bodies = written.flatMap(([key]): Array<[string, string]> => {
    const { kind, owner, name } = parseKey(key)
    const [, body] = /\$\$(.*)\$\$/s.exec(functions.get(owner) ?? '') ?? []
    if (kind !== 'function' || body === undefined) return []
    return [[`body ${owner}${name}`, createHash('md5').update(body).digest('hex')]]
  })
  return new Map([...written, ...bodies])
}

const text = `
  with lock as materialized (
    select l.relation from pg_locks l
    where l.locktype = 'relation' and l.mode = 'AccessExclusiveLock' and l.pid <> pg_backend_pid()
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
  ), every_table as (
    select c.*, exists (select from lock l where l.relation = c.oid) as is_locked
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relkind in ('r', 'p')
  ), own_table as (
    select * from every_table where not is_locked
  ), own_column as (
    select t.relname, a.*, format('%s.%s', t.relname, a.attname) as name
    from own_table t join pg_attribute a on a.attrelid = t.oid
    where a.attnum > 0 and not a.attisdropped
  ), own_function as (
    select p.* from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1 and p.prokind = 'f'
  ), object (position, kind, name, number, definition) as (
    select 0, 'locked', t.relname::text, 0, '' from every_table t where t.is_locked
    union all
    select 1, 'sequence', c.relname::text, 0, concat_ws(' ', case c.relpersistence when 'u' then 'unlogged' end,
      format_type(s.seqtypid, null), 'increment', s.seqincrement, 'minvalue', s.seqmin, 'maxvalue', s.seqmax,
      'start', s.seqstart, 'cache', s.seqcache, case when not s.seqcycle then 'no' end, 'cycle')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_sequence s on s.seqrelid = c.oid
    where n.nspname = $1 and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')
    union all
    select 2, 'table', t.relname, 0, case t.relpersistence when 'u' then 'unlogged' else 'logged' end from own_table t
    union all
    select 3, 'column', a.name, a.attnum,
      concat(format_type(a.atttypid, a.atttypmod), ' collate ' || quote_ident(co.collname))
    from own_column a
    join pg_type t on t.oid = a.atttypid
    left join pg_collation co on co.oid = a.attcollation and co.oid <> t.typcollation
    union all
    select 5, 'default', a.name, a.attnum, coalesce(
      case a.attidentity
        when 'a' then 'generated always as identity' when 'd' then 'generated by default as identity'
      end,
      -- With the table as an argument, this would wait for its locks.
      case a.attgenerated when '' then pg_get_expr(d.adbin, 0, true) else 'generated always' end
    )
    from own_column a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attidentity <> '' or a.atthasdef
    union all
    select 4, 'not-null', a.name, a.attnum, 'not null' from own_column a where a.attnotnull
    union all
    select 6, 'constraint', format('%s.%s', t.relname, o.conname), 0, concat(pg_get_constraintdef(o.oid, true), case
      when exists (select from pg_index i where i.indexrelid = o.conindid and not (i.indisvalid and i.indisready))
        then ' (invalid)'
    end)
    from own_table t join pg_constraint o on o.conrelid = t.oid
    where o.contype in ('p', 'u', 'c', 'x', 'f')
    union all
    select 7, 'index', format('%s.%s', t.relname, c.relname), 0,
      concat(pg_get_indexdef(i.indexrelid, 0, true), case
        when not (i.indisvalid and i.indisready) then ' (invalid)'
      end)
    from own_table t join pg_index i on i.indrelid = t.oid join pg_class c on c.oid = i.indexrelid
    where not exists (select from pg_constraint o where o.conrelid = t.oid and o.conindid = i.indexrelid)
    union all
    select 8, 'setting', format('%s.%s', t.relname, split_part(option, '=', 1)), 0,
      substr(option, strpos(option, '=') + 1)
    from own_table t cross join lateral unnest(t.reloptions) as option
    union all
    select 9, 'trigger', format('%s.%s', t.relname, g.tgname), 0,
      concat(pg_get_triggerdef(g.oid, true), case g.tgenabled
        when 'D' then ' (disabled)' when 'R' then ' (replica only)'
      end)
    from own_table t join pg_trigger g on g.tgrelid = t.oid
    where not g.tgisinternal
    union all
    select 10, 'rule', format('%s.%s', t.relname, r.rulename), 0, pg_get_ruledef(r.oid, true)
    from own_table t join pg_rewrite r on r.ev_class = t.oid
    union all
    select 11, 'function', format('%s(%s)', p.proname, oidvectortypes(p.proargtypes)), 0, concat_ws(' ',
      format('(%s)', pg_get_function_arguments(p.oid)), 'returns', pg_get_function_result(p.oid), 'language', l.lanname,
      case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
      case when p.proisstrict then 'strict' end, case when p.prosecdef then 'security definer' end,
      (
        select string_agg('set ' || case
          when translate(setting, '" ', '') = translate('search_path=' || $1 || ',pg_temp', '" ', '')
            then 'search_path from current'
          else setting
        end, ' ' order by setting) from unnest(p.proconfig) as setting
      ))
    from own_function p join pg_language l on l.oid = p.prolang
    union all
    select 12, 'body', format('%s(%s)', p.proname, oidvectortypes(p.proargtypes)), 0, md5(p.prosrc) from own_function p
  )
  select kind || ' ' || name as key, replace(definition, quote_ident($1) || '.', '') as definition
  from object
  order by position, split_part(name, '.', 1), number, name collate "C"`
