-- Takes back up to p_limit deliveries that were set aside while their webhook was paused. The caller holds the lock
-- of claims.
create function take_back_v1 (p_webhook bigint, p_limit integer) returns void
language plpgsql
set search_path from current
set jit to off
as $$
begin
  update queue q set
    lane = case
      -- A mark may begin after this delivery in lane 1.
      when q.paused_lane = 1 and exists (select from marks m where m.webhook_id = q.webhook_id) then 2
      else q.paused_lane
    end,
    paused_lane = null
  where q.ctid = any (array(
    select paused.ctid from queue paused
    where paused.webhook_id = p_webhook and paused.paused_lane is not null
    order by paused.paused_lane, paused.id
    limit p_limit
    for update skip locked
  ));
  delete from paused_webhooks p
  where p.webhook_id = p_webhook and not exists (select from queue q where q.webhook_id = p_webhook and q.paused_lane is not null);
end
$$;
