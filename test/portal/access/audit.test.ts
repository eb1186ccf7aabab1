import t from 'tap'
import type { AuditEntry } from '../../../src/index.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { createToken, portal, sealToken } from '../../fixtures/portal/sessions.js'

const base = '/api/v1/public/acme'

t.test('an entry names the actor of a session, or the id of a key', async (t) => {
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { portal, onAudit: (entry) => { entries.push(entry) } })
  const token = await createToken(app, ['read'], { actor: 'Ada <ada@example.com>' })
  for (const key of [token, keys.full, sealToken({ until: -1 }), 'unknown']) await app.inject({ url: `${base}/webhooks`, headers: bearer(key) })
  await app.inject({ method: 'POST', url: `${base}/webhooks`, headers: bearer(token) })
  await app.inject({ url: `${base}/nothing`, headers: bearer(token) })
  const { keyId } = entries[1] ?? {}
  t.type(keyId, 'string')
  const actor = 'Ada <ada@example.com>'
  t.same(entries.map((entry) => [entry.status, entry.keyId, entry.actor]), [
    [200, null, actor], [200, keyId, null], [401, null, null], [401, null, null], [403, null, actor], [404, null, actor]
  ])
})

t.test('a token is in no log line, no answer and no entry, whatever becomes of its request', async (t) => {
  const logs = captureLogs()
  const seen: string[] = []
  const app = await buildApp(t, {
    server: { logger: { ...logs.logger, level: 'trace' } },
    portal,
    errorDetails: true,
    rateLimit: { max: 8, failedKeys: { max: 2 } },
    onAudit: (entry) => { seen.push(JSON.stringify(entry)) },
    async routes (routes) {
      routes.get('/fails', { config: { scopes: [] }, schema: { response: { 200: {} } } }, async () => { throw new Error('gone') })
    }
  })
  const tokens = [await createToken(app), await createToken(app, ['read']), sealToken({ until: -1 }), sealToken({ tenantSlug: 'globex' }), sealToken({ tenantSlug: 'globex' })]
  const requests = [
    ['GET', '/webhooks'], ['GET', '/webhooks?x=1'], ['POST', '/webhooks'], ['GET', '/fails'], ['GET', '/nothing'], ['GET', '/candidates'], ['HEAD', '/webhooks']
  ] as const
  for (const token of tokens) {
    for (const [method, path] of requests) {
      const { body, headers } = await app.inject({ method, url: `${base}${path}`, headers: bearer(token) })
      seen.push(body, JSON.stringify(headers))
    }
  }
  await logs.waitFor('request failed')
  const text = seen.join() + logs.text()
  t.ok(text.length > 1000)
  for (const token of tokens) for (const part of [token, token.slice(4, 24), token.slice(-20)]) t.notOk(text.includes(part))
})
