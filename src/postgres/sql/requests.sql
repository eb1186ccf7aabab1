-- Claims a request's digest for p_claim, unless the request is in progress or has an answer. Returns the stored values.
create or replace function claim_request_v1 (
  p_tenant text, p_digest text, p_fingerprint text, p_claim text, p_lease_ms double precision,
  p_keep_ms double precision, out is_claimed boolean, out fingerprint text, out answer text
)
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz;
begin
  -- Repeated, because another process may delete the row between the statements.
  loop
    v_now := clock_timestamp();
    insert into requests as r (tenant, digest, fingerprint, claim, leased_until, expires_at)
    values (
      p_tenant, p_digest, p_fingerprint, p_claim,
      v_now + p_lease_ms * interval '1 millisecond', v_now + p_keep_ms * interval '1 millisecond'
    )
    on conflict on constraint requests_pkey do update set
      fingerprint = excluded.fingerprint, claim = excluded.claim, answer = null,
      leased_until = excluded.leased_until, expires_at = excluded.expires_at
    where r.expires_at <= v_now or (r.answer is null and r.leased_until <= v_now);
    is_claimed := found;
    select r.fingerprint, r.answer into fingerprint, answer
    from requests r where r.tenant = p_tenant and r.digest = p_digest;
    exit when found;
  end loop;
end
$$;

-- Stores a request's answer; null deletes the request. Does nothing if another claim has taken over.
create or replace function save_answer_v1 (p_tenant text, p_digest text, p_claim text, p_answer text) returns void
language sql
set search_path from current
set jit to off
as $$
  delete from requests r
  where r.tenant = p_tenant and r.digest = p_digest and r.claim = p_claim and p_answer is null;
  update requests r set answer = p_answer
  where r.tenant = p_tenant and r.digest = p_digest and r.claim = p_claim and p_answer is not null;
$$;

-- Deletes up to p_limit expired requests. Returns their number.
create or replace function delete_requests_v1 (p_limit integer) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_count integer;
begin
  delete from requests r using (
    select o.tenant, o.digest from requests o
    where o.expires_at <= clock_timestamp() order by o.expires_at limit p_limit for update skip locked
  ) as over
  where r.tenant = over.tenant and r.digest = over.digest;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
