import t from 'tap'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { request } from '../fixtures/request.js'
import { runExample } from '../fixtures/run-example.js'

t.test('a host on PostgreSQL serves its own tables and emits in its own transactions', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '10-postgres.ts', { PORT: '0', DATABASE_URL: url })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const [, key = ''] = await example.output(/Bearer (rk_[\w-]+)/)
  await example.output(new RegExp(`^curl ${origin}/api/v1/public/acme/candidates `, 'm'))

  const candidates = await request(`${origin}/api/v1/public/acme/candidates?filter[q]=LOVE`, { key })
  t.strictSame(candidates.body, {
    data: [{ id: 1, full_name: 'Ada Lovelace', headline: null, source_id: null }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })
  const jobs = await request(`${origin}/api/v1/public/acme/jobs`, { key })
  t.match(jobs.body, { data: [{ id: 1, name: 'Backend Engineer', status: 'published' }] })

  const synced = await request(`${origin}/api/v1/public/acme/jobs/sync`, { key })
  const { meta } = synced.body as { meta: { next_token: string } }
  const pool = createPool()
  await pool.query("update jobs set state = 'closed'")
  t.match((await request(`${origin}/api/v1/public/acme/jobs/sync?token=${meta.next_token}`, { key })).body, {
    data: [{ id: 1, deleted: false, job: { id: 1, name: 'Backend Engineer', status: 'closed' } }], meta: { has_more: false }
  })

  await t.rejects(pool.query("insert into applications (company, candidate_id, job_id) values ('globex', 1, 1)"), { code: '23503' }, 'ids of another customer')
  const { rows } = await pool.query('select tenant_key, type, subject, body::json -> \'data\' as data from recruiting.events')
  t.strictSame(rows, [{
    tenant_key: 'acme', type: 'application.created', subject: 'candidate:1', data: { id: 1, candidate_id: 1, job_id: 1 }
  }])
  t.equal(await example.end('SIGTERM'), 0)
})
