-- Returns the body of an event for filters. A body that PostgreSQL cannot convert, such as the empty one of an erased
-- event, is an empty object, because no emit may fail for it.
create function event_json_v1 (p_body text) returns jsonb
language plpgsql
stable
set search_path from current
set jit to off
as $$
begin
  return p_body::jsonb;
exception
  when data_exception or program_limit_exceeded then
    return '{}';
end
$$;
