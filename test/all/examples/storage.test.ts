import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { request } from '../../fixtures/examples/request.js'
import { runExample } from '../../fixtures/examples/run-example.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

const guide = new URL('../../../docs/adapters.md', import.meta.url)
const folder = new URL('../../../examples/adapter/', import.meta.url)

// Some cases wait in real time.
t.test('storages and key lookups of hosts', { jobs: 3 }, async (t) => {
  t.test('the files of the guide are those that are compiled and run, all of them', async (t) => {
    const blocks = [...(await readFile(guide, 'utf8')).matchAll(/^`([\w.]+)`:\n\n```ts\n(.*?)^```$/gms)]
    t.strictSame(blocks.map(([, name]) => name).sort(), (await readdir(folder)).sort())
    for (const [, name = '', text] of blocks) t.equal(text, await readFile(new URL(name, folder), 'utf8'), name)
  })

  t.test('each step of the guide that runs the kit passes', async (t) => {
    await Promise.all(['kit.ts', 'lists.ts', 'keys.ts'].map(async (file) => {
      const example = runExample(t, `adapter/${file}`)
      await example.output(/All \d+ cases passed\./)
      t.equal(await example.exit(), 0, file)
    }))
  })

  t.test('the server of the guide finds a candidate', async (t) => {
    const example = runExample(t, 'adapter/server.ts', { PORT: '0' })
    const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
    const { body } = await request(`${origin}/api/v1/public/acme/candidates?filter[q]=COSTA`, { key: 'acme-secret-key' })

    t.strictSame(body, {
      data: [{ id: 1, full_name: 'Ana Costa', headline: 'Nurse', source_id: null }],
      meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
    })
    t.equal(await example.end('SIGTERM'), 0)
  })

  t.test('sources over a service with uuids pass the cases of lists, and a key lookup of JWTs its own', async (t) => {
    const example = runExample(t, 'vendor/conformance.ts')
    await example.output(/ok {6}lists[^]*All \d+ cases passed\.[^]*ok {6}keys[^]*All \d+ cases passed\./)
    t.equal(await example.exit(), 0)
  })

  t.test('a vendor\'s own candidates, jobs and keys are served, tenant by tenant', async (t) => {
    const example = runExample(t, '02-own-storage.ts', { PORT: '0' })
    const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
    const api = `${origin}/api/v1/public/initech`
    const key = 'initech-key'

    for (const [query, ids] of [
      ['candidates?sort=full_name', [3, 1, 2]], ['candidates?sort=-updated_at&per_page=1&page=2', [1]],
      ['candidates?filter[q]=ÉMILE', [2]], ['jobs?filter[status]=on_hold&filter[q]=nurse', [2]],
      ['candidates?filter[recruiter_id]=7&filter[updated_after]=2026-02-01T00:00:00Z', [3]]
    ] as const) {
      const { body } = await request<{ data: Array<{ id: number }> }>(`${api}/${query}`, { key })
      t.strictSame(body.data.map(({ id }) => id), ids, query)
    }
    t.strictSame((await request(`${api}/candidates/1`, { key })).body, {
      data: { id: 1, full_name: 'Zoë Ødegård', headline: 'Nurse', source_id: 3 }
    })

    t.equal((await request(`${api}/candidates`, { key: 'initech-old-key' })).status, 401, 'a revoked key')
    t.equal((await request(`${origin}/api/v1/public/hooli/candidates`, { key })).status, 401, 'another tenant')
    t.equal((await request(`${api}/webhooks`, { key })).status, 403, 'a key without the scope')
    t.equal(await example.end('SIGTERM'), 0)
  })

  t.test('a host on PostgreSQL serves its own tables and emits in its own transactions', async (t) => {
    const { url, createPool } = await startPostgres(t)
    const example = runExample(t, '10-postgres.ts', { PORT: '0', DATABASE_URL: url })
    const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
    const [, key = ''] = await example.output(/Bearer (rk_[\w-]+)/)
    await example.output(new RegExp(`^curl ${origin}/api/v1/public/acme/candidates `, 'm'))

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
})
