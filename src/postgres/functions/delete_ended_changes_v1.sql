-- Deletes up to p_limit ended changes of a tenant that was renamed or removed. Returns whether there may be more. A
-- batch begins where the one before stopped, because the index keeps the entries of deleted rows until vacuum runs.
create function delete_ended_changes_v1 (p_limit integer) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_ended ended_changes;
  v_found integer;
  v_to bigint;
begin
  select * into v_ended from ended_changes e
  where e.tenant is not null order by e.tenant_digest limit 1 for update skip locked;
  if not found then
    return false;
  end if;

  select count(*), max(first.seq) into v_found, v_to
  from (
    select c.seq
    from unnest('{candidate, job}'::text[]) as of (kind)
    cross join lateral (
      (
        select r.seq from recent_changes r
        where r.tenant = v_ended.tenant and r.kind = of.kind
          and r.seq > v_ended.deleted_to and r.seq <= v_ended.last_seq
        order by r.seq limit p_limit
      )
      union all
      (
        select c.seq from changes c
        where c.tenant = v_ended.tenant and c.kind = of.kind
          and c.seq > v_ended.deleted_to and c.seq <= v_ended.last_seq
        order by c.seq limit p_limit
      )
    ) as c
    order by c.seq
    limit p_limit
  ) as first;

  -- What is moved to changes at the same time may stay, until it is older than the retention.
  delete from recent_changes r
  where r.tenant = v_ended.tenant and r.kind in ('candidate', 'job') and r.seq > v_ended.deleted_to and r.seq <= v_to;
  delete from changes c
  where c.tenant = v_ended.tenant and c.kind in ('candidate', 'job') and c.seq > v_ended.deleted_to and c.seq <= v_to;

  update ended_changes e
  set deleted_to = coalesce(v_to, e.deleted_to), tenant = case when v_found = p_limit then e.tenant end
  where e.tenant_digest = v_ended.tenant_digest;
  return true;
end
$$;
