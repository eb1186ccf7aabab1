-- Releases leases. Their deliveries are ready at once.
create function release_v1 (p_webhooks bigint[], p_ids bigint[], p_fences bigint[]) returns void
language sql
set search_path from current
set jit to off
as $$
  update queue q set
    lane = case
      when q.is_replay then 3
      -- A mark may begin after this delivery in lane 1.
      when q.attempts is null and not exists (select from marks m where m.webhook_id = q.webhook_id) then 1
      else 2
    end,
    fence = null, leased_until = null
  from (
    select held.ctid as place
    from unnest(p_webhooks, p_ids, p_fences) as lease (webhook_id, id, fence)
    join queue held on held.webhook_id = lease.webhook_id and held.lane = 0 and held.id = lease.id and held.fence = lease.fence
    for update of held skip locked
  ) as given
  where q.ctid = given.place
$$;
