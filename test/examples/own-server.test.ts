import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('a session opens the routes of the host, and an API key those of the API, unknown paths among them', async (t) => {
  const example = runExample(t, '16-own-server.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const session = { cookie: 'session=secret-session' }
  const key = { authorization: 'Bearer acme-secret-key' }
  const base = `${origin}/api/v1/public/acme`

  t.equal((await request(`${origin}/dashboard`, { headers: session })).status, 200)
  t.equal((await request(`${origin}/dashboard`, { headers: key })).status, 401)
  t.equal((await request(`${base}/candidates`, { headers: key })).status, 200)
  t.match((await request(`${base}/nothing`, { headers: key })).body, { error: { code: 'not_found' } })
  t.match((await request(`${base}/candidates`, { headers: session })).body, { error: { code: 'unauthorized' } })
  t.equal((await request(`${origin}/api/v1/public/openapi.json`)).status, 200)
  t.equal(await example.end('SIGTERM'), 0)
})
