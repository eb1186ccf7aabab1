-- Identifies the cluster. Null if the role may not read it.
create function system_identifier_v1 () returns bigint
language plpgsql
stable
set jit to off
as $$
begin
  if not has_function_privilege('pg_control_system()', 'execute') then
    return null;
  end if;
  return (select control.system_identifier from pg_control_system() as control);
end
$$;
