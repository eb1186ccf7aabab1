-- The tables of the ATS, and the two views that the API reads. Each npm run migrate executes this file, and so does
-- npm start during development.

create table if not exists companies (
  -- Never changes: webhooks, events and keys belong to it. The slug can change.
  id bigint generated always as identity primary key,
  slug text not null unique
);

create table if not exists candidates (
  company_id bigint not null references companies,
  id bigint generated always as identity,
  name text not null,
  title text,
  source_id bigint,
  recruiter_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- filter[q] searches this: the name in lower case, for all scripts.
  name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored,
  -- Pages by id, totals and filter[q] read only this index.
  primary key (company_id, id) include (name_key)
);
-- sort=updated_at and filter[updated_after], sort=full_name, filter[recruiter_id].
create index if not exists candidates_by_update on candidates (company_id, updated_at, id);
create index if not exists candidates_by_name on candidates (company_id, name collate "C", id);
create index if not exists candidates_by_recruiter on candidates (company_id, recruiter_id, id);

create table if not exists jobs (
  company_id bigint not null references companies,
  id bigint generated always as identity,
  name text not null,
  state text not null default 'draft',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored,
  primary key (company_id, id) include (name_key)
);
create index if not exists jobs_by_update on jobs (company_id, updated_at, id);

create table if not exists applications (
  company_id bigint not null references companies,
  id bigint generated always as identity,
  candidate_id bigint not null,
  job_id bigint not null,
  stage text not null default 'applied',
  primary key (company_id, id),
  -- Rejects ids of another company.
  foreign key (company_id, candidate_id) references candidates,
  foreign key (company_id, job_id) references jobs
);

create or replace view recruiting.candidates as
  select company_id as tenant_id, id, name as full_name, title as headline, source_id, recruiter_id, created_at, updated_at, name_key
  from candidates;

create or replace view recruiting.jobs as
  select company_id as tenant_id, id, name, state as status, created_at, updated_at, name_key
  from jobs;
