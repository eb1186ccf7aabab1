import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { runExample } from './fixtures/run-example.js'

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
