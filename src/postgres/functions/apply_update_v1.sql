-- Lists a webhook whose status was set, and ends the pause of an earlier revision. The caller calls it with what its
-- update returned: these statements also see what a claim set aside while the update waited for it.
create function apply_update_v1 (p_webhook bigint, p_is_status_set boolean) returns void
language plpgsql
set search_path from current
set jit to off
as $$
begin
  if p_is_status_set then
    insert into stopped_webhooks (webhook_id) values (p_webhook) on conflict do nothing;
  end if;
  update paused_webhooks p set until = '-infinity'
  where p.webhook_id = p_webhook and p.until > '-infinity' and not exists (
    select from webhook_health h join webhooks w on w.id = h.webhook_id and w.revision = h.revision where w.id = p_webhook
  );
end
$$;
