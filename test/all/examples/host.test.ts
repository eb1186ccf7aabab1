import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { readFile } from 'node:fs/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t from 'tap'
import { request } from '../../fixtures/examples/request.js'
import { runExample } from '../../fixtures/examples/run-example.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

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

t.test('a vendor\'s own operations create, update and list, and emit in the same transaction', async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '11-own-routes.ts', { PORT: '0', DATABASE_URL: url })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const [, key = ''] = await example.output(/Bearer (rk_[\w-]+)/)
  await example.output(new RegExp(`^curl ${origin}/api/v1/public/acme/candidates `, 'm'))
  const acme = `${origin}/api/v1/public/acme`
  const ask = async (method: string, path: string, body: object): Promise<[number, unknown]> => {
    const answer = await request(`${acme}${path}`, { key, method, body })
    return [answer.status, answer.body]
  }

  t.strictSame(await ask('POST', '/candidates', { full_name: 'Ada Lovelace' }), [201, { data: { id: 1, full_name: 'Ada Lovelace', headline: null } }])
  t.strictSame(await ask('PATCH', '/candidates/1', { headline: 'Analyst' }), [200, { data: { id: 1, full_name: 'Ada Lovelace', headline: 'Analyst' } }])
  const application = { id: 1, candidate_id: 1, job_id: 1, stage: 'applied' }
  t.strictSame(await ask('POST', '/applications', { candidate_id: 1, job_id: 1 }), [201, { data: application }])
  t.strictSame(await ask('PATCH', '/applications/1', { stage: 'offer' }), [200, { data: { ...application, stage: 'offer' } }])

  t.equal((await ask('POST', '/applications', { candidate_id: 1, job_id: 1 }))[0], 201)
  const list = async (query: string) => (await request(`${acme}/applications?${query}`, { key })).body
  t.match(await list('sort=-job_id&per_page=1'), { data: [{ id: 2 }], meta: { page: 1, per_page: 1, total: 2 } })
  t.match(await list('filter[stage]=offer&filter[candidate_id]=1'), {
    data: [{ id: 1, stage: 'offer' }],
    meta: { total: 1 }
  })
  for (const query of ['sort=stage', 'filter[stage]=x', 'filter[candidate_id]=2147483648', 'job=7']) {
    t.match(await list(query), { error: { details: [{ in: 'query', field: query.split('=')[0] }] } }, query)
  }

  const pool = createPool()
  const { rows: [foreign] } = await pool.query("insert into candidates (company, name) values ('globex', 'Hank Scorpio') returning id::int")
  const { rows: [foreignJob] } = await pool.query("insert into jobs (company, name) values ('globex', 'Henchman') returning id::int")
  const refused = {
    candidate_id: [{ candidate_id: 9, job_id: 1 }, { candidate_id: foreign.id, job_id: 1 }],
    job_id: [{ candidate_id: 1, job_id: 9 }, { candidate_id: 1, job_id: foreignJob.id }]
  }
  for (const [field, bodies] of Object.entries(refused)) {
    for (const body of bodies) {
      const [status, answer] = await ask('POST', '/applications', body)
      t.equal(status, 400, JSON.stringify(body))
      t.match(answer, { error: { code: 'bad_request', details: [{ in: 'body', field, message: 'is not known' }] } })
    }
  }
  t.match(await ask('POST', '/applications', { candidate_id: 1e300, job_id: 1 }), [400, { error: { details: [{ field: 'candidate_id' }] } }])
  t.match(await ask('POST', '/candidates', { full_name: 5 }), [400, { error: { details: [{ field: 'full_name' }] } }])
  t.match(await ask('PATCH', '/candidates/9', { full_name: 'Nobody' }), [404, { error: { code: 'not_found' } }])
  t.match(await ask('PATCH', '/applications/9', { stage: 'offer' }), [404, { error: { code: 'not_found' } }])
  t.match(await request(`${acme}/candidates?filter[q]=ada`, { key }), { body: { data: [{ id: 1, headline: 'Analyst' }] } })

  const { rows } = await pool.query('select type, subject from recruiting.events order by id')
  t.strictSame(rows, ['candidate.created', 'candidate.updated', 'application.created', 'application.stage_changed', 'application.created']
    .map((type) => ({ type, subject: 'candidate:1' })))
  t.equal(await example.end('SIGTERM'), 0)
})

const interview = { id: 1, candidate_id: 2, starts_at: '2026-05-04T09:00:00Z' }

t.test('an event of the vendor\'s own is checked when it is emitted, and delivered once', async (t) => {
  const bodies: unknown[] = []
  const receiver = createServer(async (request, response) => {
    bodies.push(JSON.parse(await text(request)))
    response.writeHead(204).end()
    receiver.emit('delivered')
  })
  const delivered = once(receiver, 'delivered')
  t.teardown(() => receiver.close())
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const { port } = receiver.address() as AddressInfo

  const example = runExample(t, '03-own-events.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const webhooks = `${origin}/api/v1/public/acme/webhooks`
  const key = 'acme-secret-key'
  const target = { name: 'Calendar', target_url: `http://127.0.0.1:${port}/`, event_types: ['interview.scheduled'] }

  const unknown = await request(webhooks, { key, body: { ...target, event_types: ['application.created'] } })
  t.equal(unknown.status, 400, 'the vendor\'s events replace those of the package')
  t.equal((await request(webhooks, { key, body: target })).status, 201)
  t.match((await request(`${origin}/api/v1/public/acme/event_types`, { key })).body, { data: [{}, { name: 'offer.accepted', deprecated: { sunset: '2027-03-01T00:00:00.000Z' } }, {}] })

  const { status, body } = await request(`${origin}/interviews`, { body: interview })
  t.equal(status, 200)
  const { id } = body as { id: string }
  t.strictSame(body, { id, deliveries: 1 })

  t.strictSame((await request(`${origin}/interviews`, { body: interview })).body, { id, deliveries: 1 }, 'the form sent twice')
  const refused = await request(`${origin}/interviews`, { body: { ...interview, id: 'two' } })
  t.equal(refused.status, 422)
  t.strictSame(refused.body, { code: 'invalid_event', field: 'data.id', message: 'data.id: must be integer' })

  const foreign = await request(`${origin}/interviews`, { body: { ...interview, id: 2, candidate_id: 3 } })
  t.equal(foreign.status, 422, 'a candidate of another tenant')
  t.strictSame(foreign.body, { field: 'candidate_id', message: 'candidate_id: must be the id of a candidate' })

  await delivered
  t.equal(await example.end('SIGTERM'), 0)
  t.match(bodies, [{ id, type: 'interview.scheduled', tenant_slug: 'acme', data: interview }])
  t.equal(bodies.length, 1)
})

t.test('the tests of a vendor see which events its code emits, and none of those that were rolled back', async (t) => {
  const example = runExample(t, '17-own-tests.ts')
  t.equal(await example.exit(), 0)
  const [, passed, failed] = await example.output(/pass (\d+)\n.*fail (\d+)/s)
  t.same([passed, failed], ['3', '0'])
})

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

t.test(
  "with the documented lines, requests that the router rejects get the API's error format, and only below its prefix",
  async (t) => {
    const example = runExample(t, '08-router-errors.ts', { PORT: '0' })
    const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)

    for (const path of ['/api/v1/public/%zz/candidates', `/api/v1/public/${'a'.repeat(101)}/candidates`]) {
      const { status, body } = await request(origin + path)
      t.equal(status, 400)
      t.match(body, {
        error: { code: 'bad_request', message: 'Validation failed for request payload', request_id: /./ }
      })
      t.same(Object.keys(body as object), ['error'])
    }
    t.match((await request(`${origin}/%zz`)).body, { code: 'FST_ERR_BAD_URL' })
    t.equal(await example.end('SIGTERM'), 0)
  }
)

t.test('a key stays valid when its company is renamed, and stops working when it is removed', async (t) => {
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

t.test('a settings page embeds the portal, whose session manages webhooks', async (t) => {
  const example = runExample(t, '12-portal.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const docs = await readFile(new URL('../../../docs/portal.md', import.meta.url), 'utf8')
  for (const [path, snippet] of [['webhooks', /^```html\n(.*?<iframe.*?)^```$/ms], ['webhooks.js', /^```js\n(addEventListener.*?)^```$/ms]] as const) {
    const served = await (await fetch(`${origin}/settings/${path}`)).text()
    t.ok(served.includes(snippet.exec(docs)?.[1]?.trim() ?? 'none'), `it is the ${path} of docs/portal.md`)
  }

  const { url, token } = (await request(`${origin}/settings/webhooks/session`, { method: 'POST' })).body as { url: string, token: string }
  const portal = await fetch(new URL(url, origin))
  t.equal(portal.status, 200)
  t.match(portal.headers.get('content-security-policy'), "frame-ancestors 'self'")

  const webhooks = `${origin}/api/v1/public/acme/webhooks`
  const body = { name: 'CRM sync', target_url: 'https://hooks.example.com/', event_types: ['job.created'] }
  t.equal((await request(webhooks, { key: token, body })).status, 201)
  t.match((await request(webhooks, { key: token })).body, { meta: { total: 1 } })
  t.equal(await example.end('SIGTERM'), 0)
})

async function readJobs (origin: string, key: string): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/api/v1/public/acme/mcp`), { requestInit: { headers: { authorization: `Bearer ${key}` } } }))
  try {
    const { structuredContent } = await client.callTool({ name: 'list_jobs' })
    return (structuredContent as { data: unknown }).data
  } finally {
    await client.close()
  }
}

const jobs = [{ id: 1, name: 'Backend Engineer', status: 'published' }]

t.test('an agent reads the jobs with a key', async (t) => {
  const example = runExample(t, '20-mcp.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  t.strictSame(await readJobs(origin, 'acme-secret-key'), jobs)
  t.equal(await example.end('SIGTERM'), 0)
})

t.test('an assistant reads them with an access token for this tenant, which no other server accepts', async (t) => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = await exportJWK(publicKey)
  const issuing = createServer((_request, response) => response.end(JSON.stringify({ keys: [{ ...jwk, alg: 'RS256', kid: '1' }] }))).listen(0, '127.0.0.1')
  await once(issuing, 'listening')
  t.teardown(() => issuing.close())
  const issuer = `http://127.0.0.1:${(issuing.address() as AddressInfo).port}`
  const publicUrl = 'https://api.example.com'
  const sign = (tenant: string) => new SignJWT({ scope: 'jobs:read' }).setProtectedHeader({ alg: 'RS256', kid: '1' }).setIssuer(issuer)
    .setSubject('ann').setAudience(`${publicUrl}/api/v1/public/${tenant}/mcp`).setExpirationTime('5m').sign(privateKey)

  const example = runExample(t, '21-mcp-oauth.ts', { PORT: '0', ISSUER: issuer, PUBLIC_URL: publicUrl })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  t.strictSame(await readJobs(origin, await sign('acme')), jobs)
  t.strictSame(await readJobs(origin, 'acme-secret-key'), jobs)
  const refused = await fetch(`${origin}/api/v1/public/acme/mcp`, { method: 'POST', headers: { authorization: `Bearer ${await sign('globex')}` } })
  t.equal(refused.status, 401)
  t.equal(refused.headers.get('www-authenticate'), `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/api/v1/public/acme/mcp"`)
  const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource/api/v1/public/acme/mcp`)
  t.match(await metadata.json(), { resource: `${publicUrl}/api/v1/public/acme/mcp`, authorization_servers: [issuer] })
  t.equal(await example.end('SIGTERM'), 0)
})
