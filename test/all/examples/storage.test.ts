import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { request } from '../../fixtures/examples/request.js'
import { runExample } from '../../fixtures/examples/run-example.js'

const guide = new URL('../../../docs/adapters.md', import.meta.url)
const folder = new URL('../../../examples/adapter/', import.meta.url)

// Some cases wait in real time.
t.test('storages and key lookups of hosts', { jobs: 3 }, async (t) => {
  t.test('the guide contains all files of the example', async (t) => {
    const shown = [...(await readFile(guide, 'utf8')).matchAll(/^`([\w.]+)`:\n\n```ts\n/gm)].map(([, name]) => name)
    t.strictSame(shown.sort(), (await readdir(folder)).sort())
  })

  t.test("the guide's storages and key lookup pass the kit", async (t) => {
    await Promise.all(['kit.ts', 'lists.ts', 'keys.ts'].map(async (file) => {
      const example = runExample(t, `adapter/${file}`)
      await example.output(/All \d+ cases passed\./)
      t.equal(await example.exit(), 0, file)
    }))
  })

  t.test("the guide's server finds a candidate", async (t) => {
    const example = runExample(t, 'adapter/server.ts', { PORT: '0' })
    const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
    const found = await request(`${origin}/api/v1/public/acme/candidates?filter[q]=COSTA`, { key: 'acme-secret-key' })
    t.match(found.body, { data: [{ id: 1, full_name: 'Ana Costa' }], meta: { total: 1 } })
    t.equal(await example.end('SIGTERM'), 0)
  })

  t.test('sources with uuids pass the cases for lists, and a JWT lookup the cases for keys', async (t) => {
    const example = runExample(t, 'vendor/conformance.ts')
    await example.output(/ok {6}lists[^]*All \d+ cases passed\.[^]*ok {6}keys[^]*All \d+ cases passed\./)
    t.equal(await example.exit(), 0)
  })

  t.test("a vendor's own candidates, jobs and keys are served per tenant", async (t) => {
    const example = runExample(t, '02-own-storage.ts', { PORT: '0' })
    const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
    const api = `${origin}/api/v1/public/initech`
    const key = 'initech-key'

    t.match((await request(`${api}/candidates?filter[q]=ÉMILE`, { key })).body, { data: [{ id: 2 }], meta: { total: 1 } })
    t.match((await request(`${api}/jobs?filter[status]=on_hold`, { key })).body, { data: [{ id: 2 }] })
    t.match((await request(`${api}/candidates/1`, { key })).body, { data: { full_name: 'Zoë Ødegård' } })
    t.equal((await request(`${api}/candidates`, { key: 'initech-old-key' })).status, 401, 'a revoked key')
    t.equal((await request(`${origin}/api/v1/public/hooli/candidates`, { key })).status, 401, 'another tenant')
    t.equal((await request(`${api}/webhooks`, { key })).status, 403, 'a key without the scope')
    t.equal(await example.end('SIGTERM'), 0)
  })
})
