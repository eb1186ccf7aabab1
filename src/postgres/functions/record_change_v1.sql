-- Records a change in the caller's transaction. If that has no id yet, gives it one, records nothing and returns an
-- empty text: call it again. If the second call returns an empty text too, no transaction is open.
create function record_change_v1 (p_tenant text, p_kind text, p_id text, p_deleted text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
begin
  if pg_current_xact_id_if_assigned() is null then
    return left(pg_current_xact_id()::text, 0);
  end if;
  perform start_recording_v1('recent_changes_seq_seq');
  insert into recent_changes (tenant, kind, id, deleted, changed_at)
  values (p_tenant, p_kind, p_id, p_deleted::boolean, clock_timestamp());
  return 'recorded';
end
$$;
