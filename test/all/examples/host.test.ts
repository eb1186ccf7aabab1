import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFile } from 'node:fs/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import { request } from '../../fixtures/examples/request.js'
import { runExample, testServer } from '../../fixtures/examples/run-example.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const key = 'acme-secret-key'

interface SyncPage {
  data: Array<{ id: number, deleted: boolean, application: object | null }>
  meta: { next_token: string }
}

testServer('16-own-server.ts', "a session gives access to the host's routes, and a key to the API", async (t, origin) => {
  const session = { cookie: 'session=secret-session' }
  const base = `${origin}/api/v1/public/acme`

  t.equal((await request(`${origin}/dashboard`, { headers: session })).status, 200)
  t.equal((await request(`${origin}/dashboard`, { key })).status, 401)
  t.equal((await request(`${base}/candidates`, { key })).status, 200)
  t.match((await request(`${base}/nothing`, { key })).body, { error: { code: 'not_found' } })
  t.match((await request(`${base}/candidates`, { headers: session })).body, { error: { code: 'unauthorized' } })
  t.equal((await request(`${origin}/api/v1/public/openapi.json`)).status, 200)
})

t.test("a vendor's own operations create, update and list records, and emit in the same transaction", async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '11-own-routes.ts', { PORT: '0', DATABASE_URL: url })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const [, key = ''] = await example.output(/Bearer (rk_[\w-]+)/)
  const acme = `${origin}/api/v1/public/acme`
  const ask = async (method: string, path: string, body: object): Promise<[number, unknown]> => {
    const answer = await request(`${acme}${path}`, { key, method, body })
    return [answer.status, answer.body]
  }

  const candidate = { id: 1, full_name: 'Ada Lovelace', headline: null }
  const application = { id: 1, candidate_id: 1, job_id: 1, stage: 'applied' }
  for (const [method, path, body, ...expected] of [
    ['POST', '/candidates', { full_name: 'Ada Lovelace' }, 201, candidate],
    ['PATCH', '/candidates/1', { headline: 'Analyst' }, 200, { ...candidate, headline: 'Analyst' }],
    ['POST', '/applications', { candidate_id: 1, job_id: 1 }, 201, application],
    ['PATCH', '/applications/1', { stage: 'offer' }, 200, { ...application, stage: 'offer' }]
  ] as const) t.strictSame(await ask(method, path, body), [expected[0], { data: expected[1] }])
  const ofSync = await request<SyncPage>(`${acme}/applications/sync`, { key })
  t.strictSame(ofSync.body.data, [{ id: 1, deleted: false, application: { ...application, stage: 'offer' } }])
  t.strictSame((await request(`${acme}/applications/1`, { key })).body, { data: { ...application, stage: 'offer' } })
  t.equal((await request(`${acme}/applications/9`, { key })).status, 404)
  const apply = { key, body: { candidate_id: 1, job_id: 1 }, headers: { 'idempotency-key': 'crm-17' } }
  const twice = [await request(`${acme}/applications`, apply), await request(`${acme}/applications`, apply)]
  t.match(twice, [{ status: 201, body: { data: { id: 2 } } }, { status: 201, body: { data: { id: 2 } } }])
  const list = async (query: string) => (await request(`${acme}/applications?${query}`, { key })).body
  t.match(await list('filter[stage]=offer&sort=-job_id'), { data: [{ id: 1, stage: 'offer' }], meta: { total: 1 } })
  t.match(await list('sort=stage'), { error: { details: [{ in: 'query', field: 'sort' }] } })

  const pool = createPool()
  await pool.query('delete from applications where id = 1')
  const { body: { data: changes } } = await request<SyncPage>(`${acme}/applications/sync?token=${ofSync.body.meta.next_token}`, { key })
  t.strictSame(changes.toSorted((one, other) => one.id - other.id), [
    { id: 1, deleted: true, application: null }, { id: 2, deleted: false, application: { ...application, id: 2 } }
  ])
  const { rows: [foreign] } = await pool.query(
    "insert into candidates (company, name) values ('globex', 'Hank Scorpio') returning id::int"
  )
  for (const id of [9, foreign.id]) {
    t.match(await ask('POST', '/applications', { candidate_id: id, job_id: 1 }), [
      400, { error: { code: 'bad_request', details: [{ in: 'body', field: 'candidate_id', message: 'is not known' }] } }
    ])
  }
  t.match(await ask('PATCH', '/candidates/9', { full_name: 'Nobody' }), [404, { error: { code: 'not_found' } }])

  const { rows } = await pool.query('select type, subject from recruiting.events order by id')
  t.strictSame(rows, ['candidate.created', 'candidate.updated', 'application.created', 'application.stage_changed', 'application.created']
    .map((type) => ({ type, subject: 'candidate:1' })))
  t.equal(await example.end('SIGTERM'), 0)
})

testServer('03-own-events.ts', "the vendor's own event is validated, and delivered once", async (t, origin) => {
  const receiver = await startReceiver(t)
  const interview = { id: 1, candidate_id: 2, starts_at: '2026-05-04T09:00:00Z' }
  const webhooks = `${origin}/api/v1/public/acme/webhooks`
  const target = { name: 'Calendar', target_url: receiver.url, event_types: ['interview.scheduled'] }
  const unknown = await request(webhooks, { key, body: { ...target, event_types: ['application.created'] } })
  t.equal(unknown.status, 400, "the vendor's events replace those of the package")
  t.equal((await request(webhooks, { key, body: target })).status, 201)

  const { body } = await request<{ id: string }>(`${origin}/interviews`, { body: interview })
  t.match(body, { id: /^evt_/, deliveries: 1 })
  t.strictSame((await request(`${origin}/interviews`, { body: interview })).body, body, 'the form sent twice')
  for (const [change, field] of [[{ id: 'two' }, 'data.id'], [{ id: 2, candidate_id: 3 }, 'candidate_id']] as const) {
    t.match(await request(`${origin}/interviews`, { body: { ...interview, ...change } }), { status: 422, body: { field } })
  }
  const [sent] = await receiver.received(1)
  t.match(JSON.parse(sent?.body ?? ''), { id: body.id, type: 'interview.scheduled', tenant_slug: 'acme', data: interview })
})

t.test("a vendor's tests see the events that its code emits, without rolled back ones", async (t) => {
  const example = runExample(t, '17-own-tests.ts')
  t.equal(await example.exit(), 0)
  const [, passed, failed] = await example.output(/pass (\d+)\n.*fail (\d+)/s)
  t.same([passed, failed], ['3', '0'])
})

testServer('06-typed-events.ts', 'a host emits its registered events', async (t, origin) => {
  const sign = (id: number) => request(`${origin}/offers/${id}/sign`, { method: 'POST' })
  t.match(await sign(1), { status: 200, body: { id: /^evt_/, deliveries: 0 } })
  t.equal((await sign(2)).status, 404, "another tenant's offer")
})

testServer('08-router-errors.ts', "the router's errors have the API's format", async (t, origin) => {
  for (const path of ['/api/v1/public/%zz/candidates', `/api/v1/public/${'a'.repeat(101)}/candidates`]) {
    t.match(await request(origin + path), { status: 400, body: { error: { code: 'bad_request', request_id: /./ } } })
  }
  t.match((await request(`${origin}/%zz`)).body, { code: 'FST_ERR_BAD_URL' }, 'only below its prefix')
})

testServer('18-tenant-ids.ts', 'a key stays valid after a rename of its company, but not after its removal', async (t, origin) => {
  const list = (slug: string) => request(`${origin}/api/v1/public/${slug}/candidates`, { key })
  const post = (path: string) => request(`${origin}${path}`, { method: 'POST' })

  t.equal((await list('acme')).status, 200)
  t.match((await post('/rename?from=acme&to=acme-corp')).body, { webhooks: 0 })
  t.equal((await list('acme')).status, 401)
  t.match((await list('acme-corp')).body, { data: [{ full_name: 'Ada Lovelace' }] })
  t.equal((await post('/rename?from=acme-corp&to=globex')).status, 400)
  t.match((await post('/remove?slug=acme-corp')).body, { left: 0 })
  t.equal((await list('acme-corp')).status, 401)
})

testServer('12-portal.ts', 'a settings page embeds the portal, and its session manages webhooks', async (t, origin) => {
  const docs = await readFile(new URL('../../../docs/portal.md', import.meta.url), 'utf8')
  for (const [path, snippet] of [
    ['webhooks', /^```html\n(.*?<iframe.*?)^```$/ms], ['webhooks.js', /^```js\n(addEventListener.*?)^```$/ms]
  ] as const) {
    const served = await (await fetch(`${origin}/settings/${path}`)).text()
    t.ok(served.includes(snippet.exec(docs)?.[1]?.trim() ?? 'none'), `${path} contains the snippet in docs/portal.md`)
  }
  const session = await request<{ url: string, token: string }>(`${origin}/settings/webhooks/session`, { method: 'POST' })
  const portal = await fetch(new URL(session.body.url, origin))
  t.match([portal.status, portal.headers.get('content-security-policy')], [200, "frame-ancestors 'self'"])
  const body = { name: 'CRM sync', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }
  t.equal((await request(`${origin}/api/v1/public/acme/webhooks`, { key: session.body.token, body })).status, 201)
})

async function readJobs (origin: string, key: string): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(
    new URL(`${origin}/api/v1/public/acme/mcp`), { requestInit: { headers } }
  ))
  try {
    const { structuredContent } = await client.callTool({ name: 'list_jobs' })
    return (structuredContent as { data: unknown }).data
  } finally {
    await client.close()
  }
}

const jobs = [{ id: 1, name: 'Backend Engineer', status: 'published' }]

testServer('20-mcp.ts', 'an agent reads the jobs with a key', async (t, origin) => {
  t.strictSame(await readJobs(origin, key), jobs)
})

const { privateKey, publicKey } = await generateKeyPair('RS256')
const jwk = { ...await exportJWK(publicKey), alg: 'RS256', kid: '1' }
const issuing = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] }))).listen(0, '127.0.0.1')
await once(issuing, 'listening')
t.teardown(() => issuing.close())
const issuer = `http://127.0.0.1:${(issuing.address() as AddressInfo).port}`
const publicUrl = 'https://api.example.com'

testServer('21-mcp-oauth.ts', 'an agent reads the jobs with an access token, which is valid for one tenant only', async (t, origin) => {
  const sign = (tenant: string) => new SignJWT({ scope: 'jobs:read' }).setProtectedHeader({ alg: 'RS256', kid: '1' })
    .setIssuer(issuer).setSubject('ann').setAudience(`${publicUrl}/api/v1/public/${tenant}/mcp`).setExpirationTime('5m')
    .sign(privateKey)
  t.strictSame(await readJobs(origin, await sign('acme')), jobs)
  t.strictSame(await readJobs(origin, key), jobs)
  const foreign = { authorization: `Bearer ${await sign('globex')}` }
  const rejected = await fetch(`${origin}/api/v1/public/acme/mcp`, { method: 'POST', headers: foreign })
  t.equal(rejected.status, 401)
  const metadata = '/.well-known/oauth-protected-resource/api/v1/public/acme/mcp'
  t.equal(rejected.headers.get('www-authenticate'), `Bearer resource_metadata="${publicUrl}${metadata}"`)
  t.match((await request(`${origin}${metadata}`)).body, {
    resource: `${publicUrl}/api/v1/public/acme/mcp`, authorization_servers: [issuer]
  })
}, { ISSUER: issuer, PUBLIC_URL: publicUrl })

t.test('the contact of a disabled webhook gets a mail, and another webhook an event', async (t) => {
  const [endpoint, mails] = [await startReceiver(t), await startReceiver(t)]
  endpoint.answer(410, 204)
  const example = runExample(t, '23-failing-webhooks.ts', {
    PORT: '0', MAIL_URL: mails.url, MAIL_FROM: 'hooks@ats.example', POSTMARK_TOKEN: 'token', NODE_ENV: 'development'
  })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const add = (events: string[], fields = {}) => request(`${origin}/api/v1/public/acme/webhooks`, {
    key, method: 'POST', body: { name: 'CRM', target_url: endpoint.url, event_types: events, ...fields }
  })
  t.equal((await add(['application.created'], { contact: 'ops@example.com' })).status, 201)
  t.equal((await add(['webhook.disabled'])).status, 201)
  await fetch(`${origin}/apply`, { method: 'POST' })
  await example.output(/mailed the contact/)
  t.match(JSON.parse(mails.requests[0]?.body ?? ''), {
    From: 'hooks@ats.example', To: 'ops@example.com', Subject: 'Webhook 1 was disabled because it asked for it or returned 410', TextBody: /: status 410\.$/
  })
  t.equal(mails.requests[0]?.headers['x-postmark-server-token'], 'token')
  await endpoint.received(2)
  t.match(JSON.parse(endpoint.requests[1]?.body ?? ''), { type: 'webhook.disabled', data: { webhook_id: 1 } })
  t.equal(await example.end('SIGTERM'), 0)
})
