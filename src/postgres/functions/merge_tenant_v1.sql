-- Gives everything of a tenant to another id that already has data: its webhooks and keys at once, and up to p_limit
-- of its events. p_secrets are the secrets and headers of its webhooks, sealed for the new id, as for
-- rename_tenant_v1. Returns whether events are left.
create function merge_tenant_v1 (p_from text, p_to text, p_to_slug text, p_secrets text, p_limit integer) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_from text := coalesce((select t.key from tenants t where t.tenant = p_from), p_from);
  v_to text := coalesce((select t.key from tenants t where t.tenant = p_to), p_to);
  v_events bigint[];
begin
  -- Renames and removals run one at a time.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  -- Repeated, because a rotation that the statement waits for adds a key that only the next one sees.
  loop
    update api_keys k set tenant = p_to where k.tenant = p_from;
    exit when not found;
  end loop;
  update notices n set tenant = p_to where n.tenant = p_from;
  update webhooks w set tenant = p_to, secret = s.secret, previous_secret = s.previous, headers = s.headers
  from json_to_recordset(p_secrets::json) as s (id bigint, secret text, previous text, headers text)
  where w.id = s.id;

  v_events := array(select e.seq from events e where e.tenant_key = v_from order by e.recorded_at limit p_limit);
  -- An idempotency key that both have used stays with the event that is there.
  update events e set tenant_key = v_to, idempotency_key = case
    when exists (select from events o where o.tenant_key = v_to and o.idempotency_key = e.idempotency_key) then null
    else e.idempotency_key
  end
  where e.seq = any (v_events);
  insert into event_subjects (tenant_key, subject, event_seq)
  select v_to, s.subject, s.event_seq from event_subjects s where s.event_seq = any (v_events) and s.tenant_key = v_from;
  delete from event_subjects s where s.event_seq = any (v_events) and s.tenant_key = v_from;

  if exists (select from events e where e.tenant_key = v_from) then
    return true;
  end if;
  -- At last, so that no position is given in between.
  perform end_changes_v1(p_from);
  perform end_changes_v1(p_to);
  perform name_tenant_v1(p_to, p_to_slug);
  return false;
end
$$;
