import t from 'tap'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('a vendor\'s own operations create, update and list, and emit in the same transaction', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '11-own-routes.ts', { PORT: '0', DATABASE_URL: url })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const [, key = ''] = await example.output(/Bearer (rk_[\w-]+)/)
  await example.output(new RegExp(`^curl ${origin}/api/v1/public/acme/candidates `, 'm'))
  const acme = `${origin}/api/v1/public/acme`
  const ask = async (method: string, path: string, body: object): Promise<[number, unknown]> => {
    const answer = await request(`${acme}${path}`, { key, method, body })
    return [answer.status, answer.body]
  }

  t.strictSame(await ask('POST', '/candidates', { full_name: 'Ada Lovelace' }), [201, { data: { id: 1, full_name: 'Ada Lovelace', headline: null } }])
  t.strictSame(await ask('PATCH', '/candidates/1', { headline: 'Analyst' }), [200, { data: { id: 1, full_name: 'Ada Lovelace', headline: 'Analyst' } }])
  const application = { id: 1, candidate_id: 1, job_id: 1, stage: 'applied' }
  t.strictSame(await ask('POST', '/applications', { candidate_id: 1, job_id: 1 }), [201, { data: application }])
  t.strictSame(await ask('PATCH', '/applications/1', { stage: 'offer' }), [200, { data: { ...application, stage: 'offer' } }])

  const list = async (query: string): Promise<[number, unknown, string | null]> => {
    const { status, body, headers } = await request(`${acme}/applications?${query}`, { key })
    return [status, body, headers.get('link')]
  }
  const second = { id: 2, candidate_id: 1, job_id: 1, stage: 'applied' }
  t.strictSame(await ask('POST', '/applications', { candidate_id: 1, job_id: 1 }), [201, { data: second }])
  const path = '/api/v1/public/acme/applications'
  t.strictSame(await list('sort=-job_id&per_page=1'), [
    200,
    { data: [second], meta: { page: 1, per_page: 1, total: 2, total_pages: 2 } },
    `<${path}?page=1&sort=-job_id&per_page=1>; rel="first", <${path}?page=2&sort=-job_id&per_page=1>; rel="next", <${path}?page=2&sort=-job_id&per_page=1>; rel="last"`
  ])
  t.match(await list('filter[stage]=offer&filter[candidate_id]=1'), [200, { data: [{ id: 1, stage: 'offer' }], meta: { total: 1 } }])
  for (const [query, field] of [['sort=stage', 'sort'], ['filter[stage]=x', 'filter[stage]'], ['filter[candidate_id]=2147483648', 'filter[candidate_id]'], ['job=7', 'job']]) {
    t.match(await list(String(query)), [400, { error: { details: [{ in: 'query', field }] } }], String(query))
  }

  const pool = createPool()
  const { rows: [foreign] } = await pool.query("insert into candidates (company, name) values ('globex', 'Hank Scorpio') returning id::int")
  const { rows: [foreignJob] } = await pool.query("insert into jobs (company, name) values ('globex', 'Henchman') returning id::int")
  const refused = {
    candidate_id: [{ candidate_id: 9, job_id: 1 }, { candidate_id: foreign.id, job_id: 1 }],
    job_id: [{ candidate_id: 1, job_id: 9 }, { candidate_id: 1, job_id: foreignJob.id }]
  }
  for (const [field, bodies] of Object.entries(refused)) {
    for (const body of bodies) {
      const [status, answer] = await ask('POST', '/applications', body)
      t.equal(status, 400, JSON.stringify(body))
      t.match(answer, { error: { code: 'bad_request', details: [{ in: 'body', field, message: 'is not known' }] } })
    }
  }
  t.match(await ask('POST', '/applications', { candidate_id: 1e300, job_id: 1 }), [400, { error: { details: [{ field: 'candidate_id' }] } }])
  t.match(await ask('POST', '/candidates', { full_name: 5 }), [400, { error: { details: [{ field: 'full_name' }] } }])
  t.match(await ask('PATCH', '/candidates/9', { full_name: 'Nobody' }), [404, { error: { code: 'not_found' } }])
  t.match(await ask('PATCH', '/applications/9', { stage: 'offer' }), [404, { error: { code: 'not_found' } }])
  t.match(await request(`${acme}/candidates?filter[q]=ada`, { key }), { body: { data: [{ id: 1, headline: 'Analyst' }] } })

  const { rows } = await pool.query('select type, subject from recruiting.events order by id')
  t.strictSame(rows, ['candidate.created', 'candidate.updated', 'application.created', 'application.stage_changed', 'application.created']
    .map((type) => ({ type, subject: 'candidate:1' })))
  t.equal(await example.end('SIGTERM'), 0)
})
