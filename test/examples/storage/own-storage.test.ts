import t from 'tap'
import { request } from '../fixtures/request.js'
import { runExample } from '../fixtures/run-example.js'

t.test('a vendor\'s own candidates, jobs and keys are served, tenant by tenant', async (t) => {
  const example = runExample(t, '02-own-storage.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const api = `${origin}/api/v1/public/initech`
  const key = 'initech-key'

  const zoe = { id: 1, full_name: 'Zoë Ødegård', headline: 'Nurse', source_id: 3 }
  const emile = { id: 2, full_name: 'Émile Núñez', headline: null, source_id: null }
  const ada = { id: 3, full_name: 'Ada Byrne', headline: 'Lead Nurse', source_id: 5 }

  t.strictSame((await request(`${api}/candidates?sort=full_name`, { key })).body, {
    data: [ada, zoe, emile],
    meta: { page: 1, per_page: 25, total: 3, total_pages: 1 }
  })
  t.strictSame((await request(`${api}/candidates?sort=-updated_at&per_page=1&page=2`, { key })).body, {
    data: [zoe],
    meta: { page: 2, per_page: 1, total: 3, total_pages: 3 }
  })
  t.strictSame((await request(`${api}/candidates?filter[q]=ÉMILE`, { key })).body, {
    data: [emile],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })
  t.strictSame((await request(`${api}/candidates?filter[recruiter_id]=7&filter[updated_after]=2026-02-01T00:00:00Z`, { key })).body, {
    data: [ada],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })
  t.strictSame((await request(`${api}/jobs?filter[status]=on_hold&filter[q]=nurse`, { key })).body, {
    data: [{ id: 2, name: 'Day Nurse', status: 'on_hold' }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })

  t.equal((await request(`${api}/candidates`, { key: 'initech-old-key' })).status, 401, 'a revoked key')
  t.equal((await request(`${origin}/api/v1/public/hooli/candidates`, { key })).status, 401, 'another tenant')
  t.equal((await request(`${api}/webhooks`, { key })).status, 403, 'a key without the scope')
  t.equal(await example.end('SIGTERM'), 0)
})
