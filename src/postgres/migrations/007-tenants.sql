-- Locks the webhooks of a tenant that is about to be renamed. Returns their secrets as a JSON array; or, if the new name
-- has a webhook, an event or a key, the JSON value null.
create function lock_tenant_v1 (p_from text, p_to text) returns text
language plpgsql
set search_path from current
as $$
declare
  v_secrets json;
begin
  if exists (select from tenants t where t.slug = p_to) or exists (select from webhooks w where w.tenant_slug = p_to)
    or exists (select from api_keys k where k.tenant_slug = p_to) then
    return 'null';
  end if;

  select coalesce(json_agg(json_build_object('id', w.id, 'secret', w.secret, 'previous', w.previous_secret)), '[]') into v_secrets
  from (select * from webhooks w where w.tenant_slug = p_from order by w.id for update) as w;
  return v_secrets;
end
$$;

-- Gives everything of a tenant to a new name. p_secrets is what lock_tenant_v1 returned, sealed for the new name. Returns
-- the number of webhooks.
create function rename_tenant_v1 (p_from text, p_to text, p_secrets text) returns integer
language plpgsql
set search_path from current
as $$
declare
  v_count integer;
begin
  update tenants t set slug = p_to where t.slug = p_from;
  update api_keys k set tenant_slug = p_to where k.tenant_slug = p_from;
  update notices n set tenant_slug = p_to where n.tenant_slug = p_from;
  update recent_changes c set tenant_slug = p_to where c.tenant_slug = p_from;
  -- There may be changes of the same candidates under the new name, and compact_changes_v1 keeps the last ones.
  with old as (delete from changes c where c.tenant_slug = p_from returning c.*)
  insert into recent_changes (tenant_slug, kind, id, xid, deleted, changed_at)
  select p_to, o.kind, o.id, o.xid, o.deleted, o.changed_at from old o;
  update webhooks w set tenant_slug = p_to, secret = s.secret, previous_secret = s.previous
  from json_to_recordset(p_secrets::json) as s (id bigint, secret text, previous text)
  where w.id = s.id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Deletes up to p_limit events of removed tenants with their deliveries. Returns how many events are left.
create function remove_events_v1 (p_limit integer) returns integer
language plpgsql
set search_path from current
as $$
declare
  v_events bigint[];
  v_left integer;
begin
  v_events := array(
    select e.seq from events e where e.tenant_id in (select t.id from tenants t where t.slug is null) limit p_limit
  );
  delete from queue q where q.event_seq = any (v_events);
  delete from deliveries d where d.event_seq = any (v_events);
  delete from events e where e.seq = any (v_events);

  select count(*) into v_left from events e where e.tenant_id in (select t.id from tenants t where t.slug is null);
  return v_left;
end
$$;

-- Removes a tenant: its webhooks, keys and changes at once, and up to p_limit of its events. Returns how many events of removed
-- tenants are left. A tenant with the same name that comes later gets an id of its own.
create function remove_tenant_v1 (p_tenant text, p_limit integer) returns integer
language plpgsql
set search_path from current
as $$
begin
  update tenants t set slug = null where t.slug = p_tenant;
  delete from api_keys k where k.tenant_slug = p_tenant;
  delete from notices n where n.tenant_slug = p_tenant;
  delete from recent_changes c where c.tenant_slug = p_tenant;
  delete from changes c where c.tenant_slug = p_tenant;
  delete from webhooks w where w.tenant_slug = p_tenant;
  return remove_events_v1(p_limit);
end
$$;

insert into migrations (name) values ('007-tenants.sql');
