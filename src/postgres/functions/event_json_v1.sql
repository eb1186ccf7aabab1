-- Returns the body of an event for filters. jsonb takes no escapes of NUL and lone surrogates: they are replaced by text that is
-- longer than any name or value in filters. A body that PostgreSQL cannot convert, such as the empty one of an erased event, is an
-- empty object, because no emit may fail for it.
create function event_json_v1 (p_body text) returns jsonb
language plpgsql
stable
set search_path from current
as $$
begin
  if strpos(p_body, E'\\u') = 0 then
    return p_body::jsonb;
  end if;
  return regexp_replace(
    -- Leaves only backslashes that begin an escape.
    replace(p_body, E'\\\\', E'\\u005c'),
    E'(?:\\\\u0000'
      '|\\\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\\\u[dD][c-fC-F][0-9a-fA-F]{2})'
      '|(?<!\\\\u[dD][89abAB][0-9a-fA-F]{2})\\\\u[dD][c-fC-F][0-9a-fA-F]{2})+',
    repeat('?', 256),
    'g'
  )::jsonb;
exception
  when data_exception or program_limit_exceeded then
    return '{}';
end
$$;
