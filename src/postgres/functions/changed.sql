-- For SQL of the host: records that a candidate or job was created, changed or deleted, in the caller's transaction.
-- tenant_slug is the tenant's id: its slug only if the servers have no option tenantId.
create function changed (tenant_slug text, kind text, id text, deleted boolean default false) returns void
language plpgsql
set search_path from current
set jit to off
as $$
#variable_conflict use_variable
begin
  if tenant_slug is null or char_length(tenant_slug) not between 1 and 200 or tenant_slug ~ '[[:cntrl:]]' then
    raise exception 'changed: tenant_slug: expected 1 to 200 characters without control characters, got %', quote_nullable(left(tenant_slug, 120))
      using errcode = 'invalid_parameter_value';
  elsif kind is null or kind not in ('candidate', 'job') then
    raise exception 'changed: kind: expected candidate or job, got %', quote_nullable(left(kind, 120))
      using errcode = 'invalid_parameter_value';
  elsif id is null or id !~ '^[!-.0-~]{1,64}$' then
    raise exception 'changed: id: expected 1 to 64 visible ASCII characters without /, got %', quote_nullable(left(id, 120))
      using errcode = 'invalid_parameter_value';
  elsif deleted is null then
    raise exception 'changed: deleted: expected true or false, got NULL' using errcode = 'invalid_parameter_value';
  end if;
  perform start_recording_v1('recent_changes_seq_seq');
  insert into recent_changes (tenant, kind, id, deleted, changed_at) values (tenant_slug, kind, id, deleted, clock_timestamp());
end
$$;
