-- Returns why a process of this environment must not send notifications; no row if it may. A promoted standby is not
-- a copy: only the timeline of the cluster changes.
create function find_hold_v1 (p_environment text) returns table (reason text, since timestamptz)
language plpgsql
stable
set search_path from current
set jit to off
as $$
declare
  v_system bigint := system_identifier_v1();
  v_database oid := (select d.oid from pg_database d where d.datname = current_database());
begin
  return query
    select 'copy', min(h.held_since) from home h
    where h.system <> v_system or h.database_oid <> v_database or h.table_oid <> 'home'::regclass
    having count(*) > 0;
  if not found then
    return query select 'environment', null::timestamptz from home h where h.environment <> p_environment limit 1;
  end if;
end
$$;
