import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('the quick start serves candidates and jobs, and ends on a signal', async (t) => {
  const example = runExample(t, '01-quick-start.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const api = `${origin}/api/v1/public/acme`
  const key = 'acme-secret-key'

  const candidates = await request(`${api}/candidates?filter[q]=CHÂTELET`, { key })
  t.equal(candidates.status, 200)
  t.strictSame(candidates.body, {
    data: [{ id: 2, full_name: 'Émilie du Châtelet', headline: null, source_id: null }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })

  const jobs = await request(`${api}/jobs?filter[status]=published`, { key })
  t.equal(jobs.status, 200)
  t.strictSame(jobs.body, {
    data: [{ id: 1, name: 'Backend Engineer', status: 'published' }],
    meta: { page: 1, per_page: 25, total: 1, total_pages: 1 }
  })

  const target = { name: 'CRM', target_url: 'https://example.com/hook', event_types: ['application.created'] }
  const webhook = await request(`${api}/webhooks`, { key, body: target })
  t.equal(webhook.status, 201)
  t.match(webhook.body, { data: { id: 1, ...target, status: 'active', secret: /^whsec_/ } })

  t.equal((await request(`${api}/candidates`)).status, 401)
  t.equal(await example.end('SIGTERM'), 0)
})

t.test('a quick start whose port is in use says so in one line', async (t) => {
  const taken = createServer()
  t.teardown(() => taken.close())
  await once(taken.listen(0, 'localhost'), 'listening')
  const { port } = taken.address() as AddressInfo

  const example = runExample(t, '01-quick-start.ts', { PORT: String(port) })
  const [output] = await example.output(/^[^]+$/)
  t.match(output, new RegExp(`^listen EADDRINUSE: address already in use \\S+:${port}\\. Set PORT to choose another one\\.\n$`))
  t.equal(await example.exit(), 1)
})
