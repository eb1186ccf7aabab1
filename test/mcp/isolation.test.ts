import t from 'tap'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { apiKeys, bearer, keys } from '../fixtures/api/app.js'
import { checkError, comparable } from '../fixtures/api/answers.js'
import { listTools, sendCall, sendMessage, textOf } from '../fixtures/api/mcp.js'
import { buildAppWithRoutes, urlOf } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

/** Arguments that every operation can be called with. */
const given = (properties: object) => Object.fromEntries(['id', 'delivery_id'].filter((name) => name in properties).map((name) => [name, 1]))

const strangers = [
  { tenant: 'acme', key: keys.globex },
  { tenant: 'globex', key: keys.full },
  { tenant: 'initech', key: keys.full },
  { tenant: 'initech', key: 'unknown' },
  { tenant: 'ACME', key: keys.full },
  { tenant: 'acme%00', key: keys.full },
  { tenant: 'acme%2f', key: keys.full },
  { tenant: '__proto__', key: keys.full },
  { tenant: 'acme', key: 'expired' },
  { tenant: 'acme', key: 'two keys' }
]

t.test('every tool and every message answers strangers with the same 401 as an unknown key', async (t) => {
  const { storage, calls } = spyStorage()
  const keyLookup = memoryKeyLookup([...apiKeys, { key: 'expired', tenantSlug: 'acme', scopes: [], expiresAt: '2020-01-01T00:00:00Z' }])
  const { app } = await buildAppWithRoutes(t, { storage, keyLookup, mcp: { secrets: true } })
  const tools = await listTools(app, keys.full)
  t.ok(tools.length >= 18, 'there are tools')
  const unknown = await sendMessage(app, 'unknown', 'tools/list')
  checkError(t, unknown, 401, 'an unknown key')
  t.equal(unknown.headers['www-authenticate'], 'Bearer')
  for (const { tenant, key } of strangers) {
    for (const { name, inputSchema: { properties } } of tools) {
      const answer = await sendCall(app, key, name, given(properties), { tenant })
      t.equal(comparable(answer), comparable(unknown), `${name} for ${tenant} with ${key}`)
    }
    for (const method of ['initialize', 'tools/list', 'resources/list', 'prompts/list', 'ping', 'nothing']) {
      t.equal(comparable(await sendMessage(app, key, method, {}, { tenant })), comparable(unknown), method)
    }
  }
  t.strictSame(calls, [], 'the storage is not asked')
})

t.test('each key sees and calls exactly the tools whose operations let it in', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t, { mcp: { secrets: true } })
  const tools = await listTools(app, keys.full)
  for (const [who, key] of Object.entries(keys).filter(([who]) => who !== 'globex')) {
    const visible = (await listTools(app, key)).map(({ name }) => name)
    for (const { name, inputSchema: { properties } } of tools) {
      const words = name.replaceAll('_', '')
      const route = routes.find(({ operationId }) => operationId.toLowerCase() === words)
      if (route === undefined) throw new Error(`${name} is no operation`)
      const { statusCode } = await app.inject({ method: route.method as 'GET', url: urlOf(route), headers: bearer(key) })
      const answer = await sendCall(app, key, name, given(properties))
      t.strictSame([visible.includes(name), answer.statusCode === 403], [statusCode !== 403, statusCode === 403], `${name} for ${who}`)
      if (statusCode === 403) checkError(t, answer, 403, name)
    }
  }
})

t.test('ids of another tenant look like ids that nobody has', async (t) => {
  const { app } = await buildAppWithRoutes(t, { mcp: { secrets: true }, requestId: () => 'req_1' })
  const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
  await sendCall(app, keys.globex, 'create_webhook', webhook, { tenant: 'globex' })
  for (const { name, inputSchema: { properties } } of await listTools(app, keys.full)) {
    if (!('id' in properties) || /candidate|job/.test(name)) continue
    const [foreign, unknown] = await Promise.all([1, 999].map(async (id) => (await sendCall(app, keys.full, name, { ...given(properties), id, ...(name === 'update_webhook' ? { name: 'HR' } : {}) })).json().result))
    t.equal(textOf(foreign), 'not_found: Resource was not found. The request id is req_1.', name)
    t.strictSame(foreign, unknown, name)
  }
})

t.test('each tenant reads its own rows', async (t) => {
  const { app } = await buildAppWithRoutes(t, { mcp: true })
  const acme = await sendCall(app, keys.full, 'list_jobs')
  const globex = await sendCall(app, keys.globex, 'list_jobs', {}, { tenant: 'globex' })
  t.match(acme.json().result.structuredContent.data, [{ name: 'Compiler Engineer' }, { name: 'Cryptanalyst' }])
  t.strictSame(globex.json().result.structuredContent.data, [{ id: 1, name: 'Henchman', status: 'published' }])
})
