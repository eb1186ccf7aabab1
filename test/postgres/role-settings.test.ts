import t from 'tap'
import { postgresStorage } from '../../src/storages/postgres/index.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const published = { candidates: ['id', 'full_name', 'headline', 'score'], jobs: ['id', 'name'], ids }

t.test("changing a role's settings while the server runs has no effect", async (t) => {
  const { server, pool } = await startPostgresHost(t)
  await pool.query(`
    create view api_candidates as
      select tenant_slug, id, quote_ident('ada') as full_name, current_setting('transaction_isolation') as headline,
        0.1::float8 + 0.2 as score, source_id, recruiter_id, created_at, updated_at
      from recruiting.candidates;
    insert into recruiting.candidates values ('acme', 1, '', '', null, null, now(), now())`)
  const used = server.createPool({ max: 1 })
  const storage = postgresStorage(used, { candidates: 'api_candidates' })
  const read = async (): Promise<unknown> => ({
    advice: await storage.verify(published),
    rows: await storage.candidates.list('acme', {
      fields: published.candidates, filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 10
    }),
    stats: Object.keys(await storage.deliveries.stats())
  })
  const before = await read()
  t.match(before, { rows: [{ full_name: 'ada', headline: 'read committed', score: 0.30000000000000004 }] })

  const { rows: [{ name }] } = await pool.query('select current_database() as name')
  await pool.query(`
    alter role postgres in database "${name}" set default_transaction_isolation to 'serializable';
    alter role postgres in database "${name}" set quote_all_identifiers to on;
    alter role postgres in database "${name}" set extra_float_digits to -15`)
  await pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = $1',
    [name]
  )
  // The pool may not have detected yet that its connection is closed.
  await used.query('select 1').catch(() => {})
  t.match((await used.query("select quote_ident('ada') as name, 0.1::float8 + 0.2 as score")).rows, [
    { name: '"ada"', score: 0.3 }
  ])
  t.strictSame(await read(), before)
})
