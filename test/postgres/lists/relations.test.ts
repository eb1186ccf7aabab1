import t from 'tap'
import type { IdKinds } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

const integers: IdKinds = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' }
const texts: IdKinds = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' }

const times = 'created_at timestamptz, updated_at timestamptz'
const people = (id: string, tenant = 'tenant_slug text') =>
  `(${tenant}, id ${id}, full_name text, headline text, source_id ${id}, recruiter_id ${id}, ${times})`
const openings = (id: string, tenant = 'tenant_slug text') => `(${tenant}, id ${id}, name text, status text, ${times})`

t.test('startup rejects a relation that does not match the options, and names the column', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create domain key as uuid;
    create domain slug as text check (value <> '');
    create table ints ${people('int')};
    create view "Good One" as select * from ints;
    create table int_jobs ${openings('int')};
    create table no_zone ${openings('int')};
    alter table no_zone alter created_at type timestamp;
    create table uuids ${people('uuid')};
    create table mixed ${people('uuid')};
    alter table mixed alter recruiter_id type varchar;
    create table padded ${people('char(36)')};
    create table blind ${people('text collate blind', 'tenant_slug text, tenant_id text collate blind')};
    create table texts ${openings('text')};
    create table domains ${openings('key', 'tenant_slug slug')};
    create table by_id ${people('int', 'tenant_id uuid')};
    create table by_nobody ${people('int')};
    alter table by_nobody drop tenant_slug;
    create table by_number ${people('int', 'tenant_id numeric')};
    create table by_char ${people('int', 'tenant_id char(36), tenant_slug text')};
    create table by_date ${people('int', 'tenant_slug date')};
    create table jobs_by_id ${openings('int', 'tenant_id uuid')}`)
  const defaults = { candidates: 'ints', jobs: 'int_jobs', ids: integers, hasTenantIds: false, field: 'headline' }
  const byId = { jobs: 'jobs_by_id', hasTenantIds: true }
  const byText = { candidates: 'uuids', jobs: 'texts', ids: texts }

  async function rejection (given: Partial<typeof defaults>): Promise<string | null> {
    const { candidates, jobs, field, ...options } = { ...defaults, ...given }
    const fields = { candidates: ['id', 'full_name', 'source_id', field], jobs: ['id', 'name', 'status'] }
    return postgresStorage(pool, { candidates, jobs }).verify({ ...fields, ...options })
      .then(() => null, ({ code, field, message }) => `${code} ${field} ${message}`)
  }

  for (const given of [
    { candidates: '"Good One"', jobs: 'public.int_jobs' },
    byText,
    { ...byText, candidates: 'mixed', jobs: 'domains' },
    { candidates: 'ints', jobs: 'texts', ids: { ...integers, job: 'string' } as const },
    { ...byId, candidates: 'by_id' },
    // The column tenant_id belongs to the host.
    { candidates: 'by_char' }
  ]) t.equal(await rejection(given), null, JSON.stringify(given))

  const is = (column: string, relation: string, type: string, expected: string): string =>
    `the column ${column} of public.${relation} is ${type}, expected ${expected}`
  const anInteger = (name: string) => `bigint or integer or smallint, because the option ids.${name} is 'integer'`
  const aRecruiter = is('recruiter_id', 'uuids', 'uuid', anInteger('recruiter'))
  const aText = 'uuid or text or character varying, because the option ids.candidate is \'string\''
  const aTenant = 'text or character varying or uuid or bigint or integer or smallint'
  const isBlind = 'of public.blind has a collation that treats different texts as equal'
  const needsIds = 'has the column tenant_id and no tenant_slug, so it needs the option tenantId'
  const problems: Array<[given: Partial<typeof defaults>, problem: string]> = [
    [{ candidates: 'nowhere.x' }, 'there is no table or view nowhere.x that the database user may see'],
    [{ candidates: '"Good One"', field: 'phone' }, 'public."Good One" has no column phone'],
    [{ jobs: 'no_zone' }, is('created_at', 'no_zone', 'timestamp without time zone', 'timestamp with time zone')],
    [{ ...byText, candidates: 'blind' }, `the column id ${isBlind}`],
    [{ ...byText, ...byId, candidates: 'blind' }, `the column tenant_id ${isBlind}`],
    [{ ...byText, ids: { ...texts, candidate: 'integer' } }, is('id', 'uuids', 'uuid', anInteger('candidate'))],
    [{ ...byText, ids: { ...texts, source: 'integer' } }, is('source_id', 'uuids', 'uuid', anInteger('source'))],
    [{ ...byText, ids: { ...texts, recruiter: 'integer' } }, aRecruiter],
    [{ jobs: 'texts' }, is('id', 'texts', 'text', anInteger('job'))],
    [{ ...byText, candidates: 'ints' }, is('id', 'ints', 'integer', aText)],
    [{ ...byText, candidates: 'padded' }, is('id', 'padded', 'character', aText)],
    [{ candidates: 'by_id' }, `public.by_id ${needsIds}`],
    [{ jobs: 'jobs_by_id' }, `public.jobs_by_id ${needsIds}`],
    [byId, 'public.ints has no column tenant_id, which the option tenantId needs'],
    [{ candidates: 'by_nobody' }, 'public.by_nobody has no column tenant_slug'],
    [{ ...byId, candidates: 'by_number' }, is('tenant_id', 'by_number', 'numeric', aTenant)],
    [{ ...byId, candidates: 'by_char' }, is('tenant_id', 'by_char', 'character', aTenant)],
    [{ candidates: 'by_date' }, is('tenant_slug', 'by_date', 'date', 'text or character varying')]
  ]
  for (const [given, problem] of problems) {
    const field = /jobs_by|public.texts|no_zone/.test(problem) ? 'jobs' : 'candidates'
    t.equal(await rejection(given), `storage_not_ready ${field} ${field}: ${problem}`)
  }

  const { candidates } = postgresStorage(pool, { candidates: 'by_nobody' })
  await t.rejects(candidates.count('acme', {}), { message: 'candidates: public.by_nobody has no column tenant_slug' })
})
