import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('a key stays valid when its company is renamed, and ends when it is removed', async (t) => {
  const example = runExample(t, '18-tenant-ids.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const list = (slug: string) => request(`${origin}/api/v1/public/${slug}/candidates`, { headers: { authorization: 'Bearer acme-secret-key' } })

  t.equal((await list('acme')).status, 200)
  t.match((await request(`${origin}/rename?from=acme&to=acme-corp`, { method: 'POST' })).body, { webhooks: 0 })
  t.equal((await list('acme')).status, 401)
  t.match((await list('acme-corp')).body, { data: [{ full_name: 'Ada Lovelace' }] })
  t.equal((await request(`${origin}/rename?from=acme-corp&to=globex`, { method: 'POST' })).status, 400)
  t.match((await request(`${origin}/remove?slug=acme-corp`, { method: 'POST' })).body, { left: 0 })
  t.equal((await list('acme-corp')).status, 401)
  t.equal(await example.end('SIGTERM'), 0)
})
