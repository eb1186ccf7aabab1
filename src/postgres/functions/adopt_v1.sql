-- Ends a hold: the tables belong to this database from now on. Returns why nothing was sent before, and how many
-- deliveries were pending; no row if nothing was held. Discarding skips these, deactivates all webhooks and revokes
-- all keys, unless they are kept.
create function adopt_v1 (p_environment text, p_is_discarding boolean, p_keeps_webhooks boolean, p_keeps_keys boolean)
returns table (reason text, pending bigint)
language plpgsql
set search_path from current
set jit to off
as $$
begin
  -- No claim reads the row while it changes.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  reason := (select hold.reason from find_hold_v1(p_environment) as hold);
  if reason is null then
    return;
  end if;

  pending := (
    select count(*) from queue q join webhooks w on w.id = q.webhook_id where w.status = 'active' and q.id >= w.skip_before
  );
  if p_is_discarding then
    with stopped as (
      update webhooks w set skip_before = nextval('delivery_ids')
      where w.id in (select q.webhook_id from queue q)
      returning w.id
    )
    insert into stopped_webhooks (webhook_id) select s.id from stopped s on conflict do nothing;
    delete from notices;
    if not p_keeps_webhooks then
      update webhooks w set status = 'inactive', updated_at = date_trunc('milliseconds', clock_timestamp())
      where w.status <> 'inactive';
    end if;
    if not p_keeps_keys then
      -- Repeated, because a rotation that the statement waits for adds a key that only the next one sees.
      loop
        update api_keys k set revoked_at = date_trunc('milliseconds', clock_timestamp()) where k.revoked_at is null;
        exit when not found;
      end loop;
    end if;
  end if;

  update home
  set id = gen_random_uuid(), system = system_identifier_v1(), database_oid = d.oid, table_oid = 'home'::regclass,
    environment = p_environment, held_since = null
  from pg_database d where d.datname = current_database();
  return next;
end
$$;
