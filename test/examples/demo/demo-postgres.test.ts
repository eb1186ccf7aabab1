import t from 'tap'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { request } from '../fixtures/request.js'
import { runExample } from '../fixtures/run-example.js'

t.test('the demo runs on PostgreSQL', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const demo = runExample(t, 'demo/start.ts', { PORT: '0', RECEIVER_PORT: '0', EVERY_MS: '500', DATABASE_URL: url })
  const [, api = ''] = await demo.output(/The API +(http:\/\/127\.0\.0\.1:\d+\/api\/v1\/public)/)
  await demo.output(/receiver +acme +application\.created +verified, /)

  const { body } = await request(`${api}/acme/candidates?filter[q]=élodie`, { key: 'acme-read-only' })
  const { data } = body as { data: Array<{ full_name: string }> }
  t.ok(data.length >= 3)
  t.ok(data.every(({ full_name: name }) => name.startsWith('Élodie ')))

  const { body: session } = await request(new URL('/demo/portal/session', api).href, { body: { tenant: 'acme', actor: 'reader', locale: 'en' } })
  const { token } = session as { token: string }
  t.match((await request(`${api}/acme/webhooks`, { key: token })).body, { data: [{ name: 'Demo receiver' }], meta: { total: 1 } })
  t.equal((await request(`${api}/acme/webhooks/1`, { key: token, method: 'DELETE' })).status, 403, 'a reader changes nothing')

  const { rows } = await createPool().query("select from recruiting_demo.deliveries where status = 'delivered'")
  t.ok(rows.length > 0)
  t.equal(await demo.end('SIGINT'), 0)
})
