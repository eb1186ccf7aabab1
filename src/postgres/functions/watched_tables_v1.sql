-- Returns the watched tables of a kind with their triggers:
-- parts: the table, its partitions and their triggers, as watch left them;
-- found: as they are now. A trigger that was disabled and enabled again is another one;
-- lost: the tables among them that lack a trigger which fires;
-- added: partitions that watch has not seen;
-- missed_since, problem: when a trigger first could not record a change, and its error. Null if all were recorded.
create function watched_tables_v1 (p_kind text)
returns table (
  relation text, id_expression text, tenant_expression text, id uuid, is_there boolean, parts text[], found text[], lost text[],
  added text[], missed_since timestamptz, problem text
)
language plpgsql
stable
set search_path from current
-- The names in parts must not depend on the role.
set quote_all_identifiers to off
set jit to off
as $$
#variable_conflict use_column
declare
  -- A range, so that an index of names finds them: _ comes before `.
  v_functions oid[] := array(
    select f.oid from pg_proc f
    where f.proname > ('watch_' || p_kind || '_')::name and f.proname < ('watch_' || p_kind || '`')::name
      and f.pronamespace = (select o.relnamespace from pg_class o where o.oid = 'watched_tables'::regclass)
  );
begin
  return query
  with recursive tree as (
    select w.schema_name, w.table_name, c.oid
    from watched_tables w
    join pg_namespace n on n.nspname = w.schema_name
    join pg_class c on c.relnamespace = n.oid and c.relname = w.table_name
    where w.kind = p_kind
    union
    select t.schema_name, t.table_name, i.inhrelid from tree t join pg_inherits i on i.inhparent = t.oid
  ), part as materialized (
    select t.schema_name, t.table_name, named.name, array(
      select format('%s %s %s', named.name, g.oid, g.xmin)
      from pg_trigger g
      where g.tgrelid = t.oid and g.tgenabled in ('O', 'A') and g.tgfoid = any (v_functions)
    ) as triggers
    from tree t
    join pg_class c on c.oid = t.oid
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral format('%I.%I', n.nspname, c.relname) as named (name)
  ), compared as (
    -- A group for each name instead of a join, which the planner may turn into a search of all parts for each part.
    select entry.schema_name, entry.table_name, entry.name, bool_or(entry.is_known) as is_known, max(entry.triggers) as triggers
    from (
      select p.schema_name, p.table_name, p.name, false as is_known, cardinality(p.triggers) as triggers from part p
      union all
      select w.schema_name, w.table_name, known.name, true, null
      from watched_tables w cross join lateral unnest(w.parts) as known (name)
      where w.kind = p_kind
    ) as entry
    group by entry.schema_name, entry.table_name, entry.name
  ), differing as (
    select c.schema_name, c.table_name,
      array_agg(c.name order by c.name) filter (where c.is_known and c.triggers < 4) as lost,
      array_agg(c.name order by c.name) filter (where not c.is_known) as added
    from compared c
    group by c.schema_name, c.table_name
  ), present as (
    select p.schema_name, p.table_name, array_agg(entry.text order by entry.text collate "C") as found
    from part p cross join lateral unnest(p.name || p.triggers) as entry (text)
    group by p.schema_name, p.table_name
  )
  select format('%I.%I', w.schema_name, w.table_name), w.id_expression, w.tenant_expression, w.id, now.found is not null, w.parts,
    coalesce(now.found, '{}'), coalesce(d.lost, '{}'), coalesce(d.added, '{}'),
    missed.missed_at, missed.problem
  from watched_tables w
  left join lateral (
    select m.missed_at, m.problem from missed_changes m
    where (m.kind, m.schema_name, m.table_name) = (w.kind, w.schema_name, w.table_name)
    order by m.id
    limit 1
  ) as missed on true
  left join present now on (now.schema_name, now.table_name) = (w.schema_name, w.table_name)
  left join differing d on (d.schema_name, d.table_name) = (w.schema_name, w.table_name)
  where w.kind = p_kind
  order by w.schema_name, w.table_name;
end
$$;
