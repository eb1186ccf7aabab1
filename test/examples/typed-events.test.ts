import t from 'tap'
import { request } from './fixtures/request.js'
import { runExample } from './fixtures/run-example.js'

t.test('a host whose events are registered emits them', async (t) => {
  const example = runExample(t, '06-typed-events.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)

  const { status, body } = await request(`${origin}/offers/1/sign`, { method: 'POST' })
  t.equal(status, 200)
  t.match(body, { id: /^evt_/, deliveries: 0 })
  t.equal((await request(`${origin}/offers/2/sign`, { method: 'POST' })).status, 404, 'the offer of another tenant')
  t.equal((await request(`${origin}/offers/3/sign`, { method: 'POST' })).status, 404)
  t.equal(await example.end('SIGTERM'), 0)
})
