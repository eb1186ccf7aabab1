-- For SQL of the host: ends all tokens of sync and of the feed of events, so that clients begin again. For rows that
-- were written past the triggers, and after restores that PostgreSQL cannot see.
create function end_sync_tokens () returns void
language sql
set search_path from current
set jit to off
as $$
  update change_state set id = gen_random_uuid()
$$;
