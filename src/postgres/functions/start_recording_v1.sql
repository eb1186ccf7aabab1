-- A transaction calls this before it draws a number from a sequence whose order readers follow. Tells readers from
-- which number on the transaction may still commit rows, by a lock in its name: PostgreSQL releases it after the rows
-- have become visible.
create function start_recording_v1 (p_sequence regclass) returns void
language plpgsql
-- The caller needs no privileges on the sequence.
security definer
set search_path from current
set jit to off
as $$
declare
  v_setting text := 'fastify_recruiting_api.records_' || p_sequence::oid;
  v_transaction text := pg_current_xact_id()::text;
begin
  -- A rollback to a savepoint ends the lock and the setting together.
  if current_setting(v_setting, true) is distinct from v_transaction then
    perform pg_advisory_xact_lock_shared(p_sequence::oid::integer, (coalesce(pg_sequence_last_value(p_sequence), 0) & 2147483647)::integer);
    perform set_config(v_setting, v_transaction, true);
  end if;
end
$$;
