-- Marks webhooks whose queue begins with deleted rows, or moves their marks, among those visited by a claim that
-- began after p_after and stopped at p_until. The caller holds the lock of claims.
create function mark_v1 (p_after bigint, p_until bigint) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_started timestamptz := clock_timestamp();
  v_next_id bigint := nextval('delivery_ids');
  v_next_xid xid8 := pg_snapshot_xmax(pg_current_snapshot());
  v_all_ended xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_webhook bigint;
  v_mark marks;
  v_searched timestamptz;
  v_shortest interval;
  v_first_leased bigint;
  v_first_fresh bigint;
begin
  for v_webhook in
    (select w.id from webhooks w where w.id > p_after and (w.id <= p_until or p_until <= p_after) order by w.id)
    union all
    (select w.id from webhooks w where w.id <= p_until and p_until <= p_after order by w.id)
  loop
    -- The shorter of two searches counts: on a busy machine one may wait for the processor.
    select * into v_mark from marks m where m.webhook_id = v_webhook;
    v_shortest := '1 hour';
    for v_search in 1..2 loop
      v_searched := clock_timestamp();
      select q.id into v_first_leased from queue q
      where q.webhook_id = v_webhook and q.lane = 0 and q.id >= coalesce(v_mark.first_leased, 0) order by q.id limit 1;
      select q.id into v_first_fresh from queue q
      where q.webhook_id = v_webhook and q.lane = 1 and q.id >= coalesce(v_mark.first_fresh, 0) order by q.id limit 1;
      v_shortest := least(v_shortest, clock_timestamp() - v_searched);
    end loop;
    if v_shortest > interval '0.1 milliseconds' then
      if v_mark is null then
        insert into marks (webhook_id, first_leased, settled_id, settled_xid, settled_at)
        values (v_webhook, coalesce(v_first_leased, v_next_id), v_next_id, v_next_xid, v_started);
      -- Each update leaves a deleted row.
      elsif v_mark.settled_at > v_started - interval '2 seconds' then
        null;
      elsif v_mark.first_fresh = v_mark.safe_fresh and v_mark.settled_xid <= v_all_ended then
        v_first_fresh := least(v_first_fresh, v_mark.settled_id);
        update marks m set first_leased = coalesce(v_first_leased, v_next_id), first_fresh = v_first_fresh, safe_fresh = v_first_fresh,
          settled_id = v_next_id, settled_xid = v_next_xid, settled_at = v_started
        where m.webhook_id = v_webhook;
      -- A transaction stays open. Deliveries that it commits with a lower id wait until the mark expires.
      elsif v_mark.settled_at < v_started - interval '10 seconds' then
        update marks m set first_leased = coalesce(v_first_leased, v_next_id), first_fresh = coalesce(v_first_fresh, v_next_id),
          expires_at = least(m.expires_at, v_started + interval '10 seconds')
        where m.webhook_id = v_webhook;
      end if;
    end if;
    exit when clock_timestamp() - v_started > interval '100 milliseconds';
  end loop;
end
$$;
