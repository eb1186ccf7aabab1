-- These functions do not wait for locks, because a waiting caller would hold a connection: a function that finds a lock
-- returns busy, and the caller tries again.

-- Returns why a customer cannot create another key; null if it can. p_creator is the key that creates it, or null; p_max
-- is the number of valid keys that the tenant can have, or null. Locks the creator, and out other calls.
create or replace function reject_key_v1 (p_tenant text, p_creator text, p_max integer) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_creator api_keys;
  v_now timestamptz;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('api_keys ' || p_tenant, 0)) then
    return 'busy';
  end if;
  if p_creator is not null then
    select * into v_creator from api_keys k where k.tenant = p_tenant and k.id = p_creator for share skip locked;
    if not found and exists (select from api_keys k where k.tenant = p_tenant and k.id = p_creator) then
      return 'busy';
    end if;
  end if;
  v_now := clock_timestamp();
  if v_creator.revoked_at is not null or v_creator.replaced_at is not null or v_creator.expires_at <= v_now then
    return 'creator_ended';
  end if;
  if p_max <= (
    select count(*) from (
      select from api_keys k
      where k.tenant = p_tenant and k.revoked_at is null
        and coalesce(least(k.expires_at, k.replaced_at), 'infinity') > v_now
      limit p_max
    ) as usable
  ) then
    return 'full';
  end if;
  return null;
end
$$;

-- Returns the ancestors of a key that p_creator creates, in addition to p_ancestors.
create or replace function descend_v1 (p_ancestors jsonb, p_tenant text, p_creator text) returns jsonb
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_creator api_keys;
begin
  select * into v_creator from api_keys k where k.tenant = p_tenant and k.id = p_creator;
  return (
    select jsonb_object_agg(oldest.line, oldest.generation)
    from (
      select a.line, min(a.generation) as generation
      from (
        select coalesce(v_creator.line, p_creator), coalesce(v_creator.generation, 0)
        union all select e.key, e.value::integer from jsonb_each_text(p_ancestors) as e
        union all select e.key, e.value::integer from jsonb_each_text(v_creator.ancestors) as e
      ) as a (line, generation)
      group by a.line
    ) as oldest
  );
end
$$;

-- Stores a key: a row of api_keys as JSON. With p_max, a customer creates it: it expires after p_days, and the tenant
-- can have p_max valid keys. Returns none; busy, full, creator_ended or too_deep if nothing was stored; or, if the tenant
-- is resting, the end of its rest.
create or replace function issue_key_v1 (p_key text, p_days text, p_max text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key api_keys := json_populate_record(null::api_keys, p_key::json);
  v_result text := find_rest_v1(v_key.tenant);
begin
  if v_result is null and p_max is not null then
    v_result := reject_key_v1(
      v_key.tenant, case v_key.creator_type when 'key' then v_key.creator_id end, p_max::integer
    );
  end if;
  if v_result is not null then
    return v_result;
  end if;
  v_key.generation := 0;
  v_key.ancestors := '{}';
  v_key.created_at := date_trunc('milliseconds', clock_timestamp());
  v_key.expires_at := coalesce(v_key.expires_at, v_key.created_at + p_days::integer * interval '1 day');
  if v_key.creator_type = 'key' then
    v_key.ancestors := descend_v1(v_key.ancestors, v_key.tenant, v_key.creator_id);
    v_key.expires_at := least(
      v_key.expires_at, (select k.expires_at from api_keys k where k.tenant = v_key.tenant and k.id = v_key.creator_id)
    );
  end if;
  if (select count(*) from jsonb_object_keys(v_key.ancestors)) > 20 then
    return 'too_deep';
  end if;
  insert into api_keys select v_key.*;
  return 'none';
end
$$;

-- Stores a key that replaces one of the tenant's valid keys, which expires after p_overlap seconds. p_key has the new
-- key's own columns as JSON; without a creator_type, the vendor rotates the key, and may replace a key several times.
-- Returns none; busy, full, creator_ended or too_deep as issue_key_v1 does; or missing if the tenant has no such key.
create or replace function rotate_key_v1 (p_tenant text, p_old text, p_key text, p_overlap text, p_max text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key api_keys := json_populate_record(null::api_keys, p_key::json);
  v_is_managed boolean := v_key.creator_type is not null;
  v_old api_keys;
  v_now timestamptz;
  v_result text;
begin
  if v_is_managed then
    v_result := reject_key_v1(
      p_tenant, case v_key.creator_type when 'key' then v_key.creator_id end,
      case when p_overlap::integer > 0 then p_max::integer end
    );
    if v_result is not null then
      return v_result;
    end if;
  end if;
  select * into v_old from api_keys k where k.tenant = p_tenant and k.id = p_old for no key update skip locked;
  if not found and exists (select from api_keys k where k.tenant = p_tenant and k.id = p_old) then
    return 'busy';
  end if;
  -- Reads the clock after locking: another rotation may have expired the key.
  v_now := date_trunc('milliseconds', clock_timestamp());
  if v_old.id is null or v_old.revoked_at is not null or least(v_old.expires_at, v_old.replaced_at) <= v_now
    or (v_is_managed and v_old.replaced_at is not null) then
    return 'missing';
  end if;

  v_key.tenant := v_old.tenant;
  v_key.tenant_slug := v_old.tenant_slug;
  v_key.name := v_old.name;
  v_key.scopes := v_old.scopes;
  v_key.allowed_ips := v_old.allowed_ips;
  v_key.candidate_fields := v_old.candidate_fields;
  v_key.job_fields := v_old.job_fields;
  if not v_is_managed then
    v_key.creator_type := 'code';
    v_key.creator_id := case v_old.creator_type when 'code' then v_old.creator_id end;
  end if;
  v_key.line := coalesce(v_old.line, v_old.id);
  v_key.generation := v_old.generation + 1;
  v_key.ancestors := v_old.ancestors;
  v_key.created_at := v_now;
  -- Not the end of the overlap.
  v_key.expires_at := v_old.expires_at;
  if v_key.creator_type = 'key' then
    v_key.ancestors := descend_v1(v_key.ancestors, v_key.tenant, v_key.creator_id);
    v_key.expires_at := least(
      v_key.expires_at, (select k.expires_at from api_keys k where k.tenant = v_key.tenant and k.id = v_key.creator_id)
    );
  end if;
  if v_is_managed and (select count(*) from jsonb_object_keys(v_key.ancestors)) > 20 then
    return 'too_deep';
  end if;
  update api_keys k set replaced_at = least(k.replaced_at, v_now + p_overlap::integer * interval '1 second')
  where k.id = p_old;
  insert into api_keys select v_key.*;
  return 'none';
end
$$;

-- Revokes a tenant's key immediately; with p_children, its valid children too. Returns missing if the tenant has no such
-- key; busy; or JSON with the ids of its children that were valid, and whether the key was not revoked yet.
create or replace function revoke_key_v1 (p_tenant text, p_id text, p_children text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key api_keys;
  v_line text;
  v_now timestamptz;
  v_ids text[];
  v_children text[] := '{}';
begin
  -- A locked key creates no children.
  select * into v_key from api_keys k where k.tenant = p_tenant and k.id = p_id for no key update skip locked;
  if not found then
    return case when exists (select from api_keys k where k.tenant = p_tenant and k.id = p_id) then 'busy'
      else 'missing' end;
  end if;
  v_line := coalesce(v_key.line, v_key.id);
  -- Repeated: a child may have created another one before it was locked.
  loop
    v_now := date_trunc('milliseconds', clock_timestamp());
    v_ids := array(
      select k.id from api_keys k
      where k.tenant = p_tenant and k.revoked_at is null
        and coalesce(least(k.expires_at, k.replaced_at), 'infinity') > v_now
        and (k.ancestors ->> v_line)::integer <= v_key.generation
        and k.id <> p_id and (coalesce(k.line, k.id) <> v_line or k.generation > v_key.generation)
    );
    exit when not p_children::boolean or v_ids = '{}';
    if cardinality(v_ids) > (
      select count(*) from (
        select from api_keys k where k.id = any (v_ids) and k.revoked_at is null for no key update skip locked
      ) as locked
    ) then
      return 'busy';
    end if;
    update api_keys k set revoked_at = v_now where k.id = any (v_ids);
    v_children := v_children || v_ids;
  end loop;
  update api_keys k set revoked_at = v_now where k.id = p_id and k.revoked_at is null;
  return json_build_object('children', v_children || v_ids, 'isRevoked', found);
end
$$;

-- Sets the active webhooks to inactive that a tenant's key created, or a key that it replaced; with p_children, those of
-- its children too. Returns their number.
create or replace function disable_webhooks_v1 (p_tenant text, p_id text, p_children text) returns bigint
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_disabled bigint[];
begin
  with disabled as (
    update webhooks w set status = 'inactive', skip_before = nextval('delivery_ids'),
      updated_at = date_trunc('milliseconds', clock_timestamp())
    from (
      select k.id from api_keys k
      join api_keys own on own.tenant = p_tenant and own.id = p_id
      where k.tenant = p_tenant and (
        k.id = own.id or (coalesce(k.line, k.id) = coalesce(own.line, own.id) and k.generation < own.generation)
        or (p_children::boolean and (k.ancestors ->> coalesce(own.line, own.id))::integer <= own.generation)
      )
    ) as family
    where w.tenant = p_tenant and w.creator_type = 'key' and w.creator_id = family.id and w.status = 'active'
    returning w.id
  )
  select coalesce(array_agg(d.id), '{}') into v_disabled from disabled d;
  insert into stopped_webhooks (webhook_id) select unnest(v_disabled) on conflict do nothing;
  return cardinality(v_disabled);
end
$$;
