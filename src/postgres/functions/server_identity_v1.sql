-- Identifies the data of the server. The timeline changes with each restore and when a standby is promoted; that of
-- the last checkpoint would be the old one for minutes.
create function server_identity_v1 () returns text
language plpgsql
stable
set search_path from current
set jit to off
as $$
declare
  v_timeline text;
begin
  if not pg_is_in_recovery() then
    v_timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  end if;
  return concat_ws(' ', system_identifier_v1(), v_timeline);
end
$$;
