import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../../src/memory/index.js'
import { findTool } from '../../fixtures/programs.js'
import { runExample } from '../../fixtures/examples/run-example.js'
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

t.test('the client prints what changed and happened since the last run, and why a request was rejected', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'recruiting-client-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const storage = memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ana Costa' }, { id: 2, full_name: 'Bo Lind' }] } } })
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes: ['candidates:read', 'webhooks:read'] }]), delivery: false })
  const env = { BASE_URL: `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public`, KEY: 'acme-secret-key', FOLDER: folder }

  await runExample(t, '19-client.ts', env).output(/^1 Ana Costa\n2 Bo Lind\nup to date\n$/)
  storage.candidates.save('acme', { id: 2, full_name: 'Bo Lindt' })
  storage.candidates.remove('acme', 1)
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 7 } })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.hired', data: { id: 7 } })
  await runExample(t, '19-client.ts', env).output(/^2 Bo Lindt\n1 is gone\n20\S+Z application 7\nup to date\n$/)

  const refused = runExample(t, '19-client.ts', { ...env, KEY: 'another' })
  await refused.output(/^Missing or invalid API key \(unauthorized, req_\w+\)\n$/)
  t.equal(await refused.exit(), 1)
})

const key = 'acme-secret-key'

t.test('the quick start ends with a verified delivery, and a forged one is rejected', async (t) => {
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

t.test('the receiver acts on a signed notification once, and on no other', async (t) => {
  const example = runExample(t, '04-verify-webhook.ts', { PORT: '0', WEBHOOK_SECRET: secret })
  const [, url = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const post = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: text })).status

  t.equal(await post(sign('evt_1', new Date())), 204)
  await example.output(/^evt_1 acme application\.hired \{"id":7\}$/m)

  t.equal(await post(sign('evt_1', new Date())), 204)
  await example.output(/^evt_1 again, nothing to do$/m)

  const tombstone = body.replace('{"id":7}', 'null,"erased":true')
  t.equal(await post(sign('evt_1', new Date(), tombstone), tombstone), 204)
  await example.output(/^evt_1 acme application\.hired erased, delete its data$/m)

  const test = body.replace('{"id":7}', '{},"test":true')
  t.equal(await post(sign('evt_1', new Date(), test), test), 204)
  await example.output(/^evt_1 is a test, nothing to do$/m)

  t.equal(await post(sign('evt_1', new Date()), body.replace('7', '8')), 401)
  await example.output(/^refused: No matching signature found$/m)

  t.equal(await post(sign('evt_1', new Date(Date.now() - 3_600_000))), 401)
  await example.output(/^refused: Message timestamp too old$/m)

  t.equal(await post({}), 401)
  await example.output(/^refused: Missing required headers$/m)

  t.equal(await post({}, 'x'.repeat(2_000_000)), 401)
  await example.output(/^refused: The body is too long$/m)

  t.equal(await example.end('SIGTERM'), 0)
})

t.test('the reference page is served with its files, and with the address of the document in its settings', async (t) => {
  const example = runExample(t, '07-reference-page.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const read = async (path: string): Promise<string> => {
    const answer = await fetch(new URL(path, `${origin}/reference/`))
    t.equal(answer.status, 200, path)
    return answer.text()
  }

  const html = await read('')
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
  t.same(files, ['swagger-ui.css', 'favicon-32x32.png', 'swagger-ui-bundle.js', 'settings.js'])
  for (const file of files) {
    t.match(file, /^[\w./-]+$/, `${file} is on the same host`)
    await read(file)
  }
  const settings = await read('settings.js')
  const [, document = ''] = /url: '([^']+)'/.exec(settings) ?? []
  t.match(JSON.parse(await read(document)), { openapi: '3.1.0' })
  const { url, status } = await fetch(`${origin}/reference`)
  t.same([url, status], [`${origin}/reference/`, 200], 'the address works without its slash')
  t.equal(await example.end('SIGTERM'), 0)
})
