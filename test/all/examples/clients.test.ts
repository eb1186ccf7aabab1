import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/storages/memory/index.js'
import { findTool } from '../../fixtures/programs.js'
import { runExample, testServer } from '../../fixtures/examples/run-example.js'
import { request } from '../../fixtures/examples/request.js'

const noTools = findTool('openapi-fetch')

async function serve (t: Test): Promise<string> {
  const app = Fastify()
  const candidates = [{ id: 1, full_name: 'Ana Costa', headline: 'Nurse' }, { id: 2, full_name: 'Bo Lind' }]
  await app.register(recruitingApi, {
    storage: memoryStorage({ tenants: { acme: { candidates } } }),
    keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'webhooks:read', 'webhooks:write'] }]),
    delivery: false
  })
  t.teardown(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

t.test('a typed client lists candidates, registers a webhook and copies candidates by sync', { skip: noTools }, async (t) => {
  const example = runExample(t, 'client/client.ts', { ORIGIN: await serve(t) })
  await example.output(/^1 Ana Costa Nurse\n1 found\nwebhook 1 has a secret\ncopied Ana Costa and Bo Lind\n$/)
  t.equal(await example.exit(), 0)
})

t.test('the client prints changes and events since the last run, and the reason for a rejection', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recruiting-client-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const storage = memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ana Costa' }, { id: 2, full_name: 'Bo Lind' }] } } })
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'webhooks:read'] }]), delivery: false })
  const env = { BASE_URL: `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public`, KEY: 'acme-secret-key', FOLDER: folder }

  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
  await runExample(t, '19-client.ts', env).output(/^1 Ana Costa\n2 Bo Lind\nup to date\n$/)
  storage.candidates.save('acme', { id: 2, full_name: 'Bo Lindt' })
  storage.candidates.remove('acme', 1)
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 7 } })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.hired', data: { id: 7 } })
  await runExample(t, '19-client.ts', env).output(/^2 Bo Lindt\n1 is gone\n20\S+Z application 7\nup to date\n$/)

  const rejected = runExample(t, '19-client.ts', { ...env, KEY: 'another' })
  await rejected.output(/^Missing or invalid API key \(unauthorized, req_\w+\)\n$/)
  t.equal(await rejected.exit(), 1)
})

const key = 'acme-secret-key'

t.test('the quick start delivers a verified notification, and its receiver rejects a forged one', async (t) => {
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
  await receiver.output(/^rejected: WebhookVerificationError: Missing required headers$/m)
  t.equal(await server.end('SIGTERM'), 0)
})

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const body = '{"id":"evt_1","type":"application.hired","timestamp":"2026-05-04T09:00:00.000Z","tenant_slug":"acme","data":{"id":7}}'

function sign (id: string, sentAt: Date, text = body): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, sentAt, text)
  }
}

testServer('04-verify-webhook.ts', 'the receiver processes a signed notification once', async (t, url, example) => {
  const post = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: text })).status

  const tombstone = body.replace('{"id":7}', 'null,"erased":true')
  const test = body.replace('{"id":7}', '{},"test":true')
  for (const [status, line, headers, text] of [
    [204, 'evt_1 acme application.hired {"id":7}', sign('evt_1', new Date())],
    [204, 'evt_1 again, nothing to do', sign('evt_1', new Date())],
    [204, 'evt_1 acme application.hired erased, delete its data', sign('evt_1', new Date(), tombstone), tombstone],
    [204, 'evt_1 is a test, nothing to do', sign('evt_1', new Date(), test), test],
    [401, 'rejected: No matching signature found', sign('evt_1', new Date()), body.replace('7', '8')],
    [401, 'rejected: Message timestamp too old', sign('evt_1', new Date(Date.now() - 3_600_000))],
    [401, 'rejected: Missing required headers', {}],
    [401, 'rejected: The body is too long', {}, 'x'.repeat(2_000_000)]
  ] as const) {
    t.equal(await post(headers, text), status, line)
    await example.output(new RegExp(`^${line}$`, 'm'))
  }
}, { WEBHOOK_SECRET: secret })
