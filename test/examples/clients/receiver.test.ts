import { readFile } from 'node:fs/promises'
import t from 'tap'
import { request } from '../fixtures/request.js'
import { runExample } from '../fixtures/run-example.js'

const key = 'acme-secret-key'

t.test('the commands of the quick start end with a delivery that arrives, and a forged one is refused', async (t) => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
  const [, path = '', body = ''] = /^curl http:\/\/127\.0\.0\.1:3000(\S+\/webhooks) .*?^ {2}-d '(.*?)'$/ms.exec(readme) ?? []
  const server = runExample(t, '01-quick-start.ts', { PORT: '0' })
  const [, origin = ''] = await server.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)

  const { status, body: created } = await request(`${origin}${path}`, { key, body: JSON.parse(body) })
  t.equal(status, 201)
  const { id, secret } = (created as { data: { id: number, secret: string } }).data
  const receiver = runExample(t, '01-receiver.ts', { PORT: '0', WEBHOOK_SECRET: secret })
  const [, port] = await receiver.output(/listening .*port: (\d+)/)
  const target = `http://127.0.0.1:${port}/`
  t.match(await request(`${origin}${path}/${id}`, { key, method: 'PATCH', body: { target_url: target } }), { status: 200 })

  t.match(await request(`${origin}/apply`, { method: 'POST' }), { status: 200, body: { id: /^evt_/, deliveries: 1 } })
  await receiver.output(/verified \{[^]*type: 'application\.created'[^]*data: \{ id: 1, candidate_id: 1, job_id: 1 \}/)
  t.match(await request(target, { body: {} }), { status: 401 })
  await receiver.output(/^refused: WebhookVerificationError: Missing required headers$/m)
  t.equal(await server.end('SIGTERM'), 0)
})

t.test('the quick start says why it refuses an address that no development option allows', async (t) => {
  const server = runExample(t, '01-quick-start.ts', { PORT: '0' })
  const [, origin = ''] = await server.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const body = { name: 'CRM', target_url: 'http://10.0.0.1/', event_types: ['application.created'] }

  t.match(await request(`${origin}/api/v1/public/acme/webhooks`, { key, body }), {
    status: 400, body: { error: { code: 'bad_request', details: [{ field: 'target_url' }] } }
  })
})
