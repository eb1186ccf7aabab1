-- Lists the tenants that rest. Ends expired rests: deletes webhooks and keys that a transaction from before the rest
-- created late, once no such transaction is open.
create function list_resting_v1 () returns table (tenant text, rests_until timestamptz)
language plpgsql
set search_path from current
set jit to off
as $$
#variable_conflict use_column
declare
  v_snapshot pg_snapshot := pg_current_snapshot();
  -- A transaction that wrote a webhook or a key holds this lock until it ends. Those of other databases do not matter.
  v_is_writing boolean := exists (
    select from pg_locks l
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.pid is distinct from pg_backend_pid()
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.relation in ('webhooks'::regclass, 'api_keys'::regclass)
  );
  v_over text[];
begin
  if current_setting('transaction_read_only') = 'off' and exists (select from tenants t where t.rests_until <= clock_timestamp()) then
    v_over := array(
      select t.tenant from tenants t
      where t.rests_until <= clock_timestamp()
        -- After a restore on another server, this may be an id that it has not reached.
        and (
          not v_is_writing or t.rests_since < pg_snapshot_xmin(v_snapshot) or t.rests_since >= pg_snapshot_xmax(v_snapshot)
        )
      for update skip locked
    );
    with deleted as (
      delete from webhooks w where w.tenant = any (v_over) returning w.id
    )
    insert into stopped_webhooks (webhook_id) select d.id from deleted d on conflict do nothing;
    delete from api_keys k where k.tenant = any (v_over);
    update tenants t set rests_until = null, rests_since = null where t.tenant = any (v_over);
  end if;

  return query
    select t.tenant, greatest(t.rests_until, date_trunc('milliseconds', clock_timestamp()) + interval '1 minute')
    from tenants t
    where t.rests_until is not null;
end
$$;
