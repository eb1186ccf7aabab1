-- Claims a request's digest for p_claim, unless an earlier attempt still counts or the tenant has p_max digests. Returns
-- an IdempotencyState as JSON.
create or replace function claim_request_v1 (
  p_tenant text, p_digest text, p_fingerprint text, p_claim text, p_is_atomic boolean, p_lease_ms double precision,
  p_keep_ms double precision, p_max integer
) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz;
  v_known requests;
  v_count integer;
  v_first timestamptz;
begin
  -- Repeated, because another process may insert the row between the statements.
  loop
    -- Waits for a transaction that is storing the answer.
    select * into v_known from requests r where r.tenant = p_tenant and r.digest = p_digest for update;
    v_now := clock_timestamp();
    if found then
      if v_known.expires_at > v_now and (
        v_known.answer is not null or not v_known.is_atomic or v_known.fingerprint <> p_fingerprint
      ) then
        return json_strip_nulls(json_build_object(
          'state', case
            when v_known.answer is not null then 'answered'
            when v_known.is_atomic or v_known.leased_until > v_now then 'running'
            else 'unknown'
          end,
          'fingerprint', v_known.fingerprint,
          'answer', v_known.answer
        ));
      end if;
      delete from requests r where r.tenant = p_tenant and r.digest = p_digest;
    else
      -- Digests are random, so those with the same first digit are a sixteenth of all.
      select count(*), min(r.expires_at) into v_count, v_first
      from requests r
      where r.tenant = p_tenant and r.digest >= left(p_digest, 1) and r.digest < chr(ascii(p_digest) + 1)
        and r.expires_at > v_now;
      if v_count >= greatest(p_max / 16, 1) then
        return json_build_object('state', 'full', 'waitMs', ceil(extract(epoch from v_first - v_now) * 1000));
      end if;
    end if;
    insert into requests (tenant, digest, fingerprint, claim, is_atomic, leased_until, expires_at)
    values (
      p_tenant, p_digest, p_fingerprint, p_claim, p_is_atomic,
      v_now + p_lease_ms * interval '1 millisecond', v_now + p_keep_ms * interval '1 millisecond'
    )
    on conflict do nothing;
    if found then
      return '{"state":"claimed"}';
    end if;
  end loop;
end
$$;

-- Stores a request's answer; null deletes the request. Returns false, and does nothing, if it already has an answer or
-- another claim has taken over.
create or replace function save_answer_v1 (p_tenant text, p_digest text, p_claim text, p_answer text) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
begin
  if p_answer is null then
    delete from requests r
    where r.tenant = p_tenant and r.digest = p_digest and r.claim = p_claim and r.answer is null;
  else
    update requests r set answer = p_answer
    where r.tenant = p_tenant and r.digest = p_digest and r.claim = p_claim and r.answer is null;
  end if;
  return found;
end
$$;
