import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import recruitingApi, { createRecruiting } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { recordEvents } from '../../src/tools/testing/index.js'
import { apiKeys, bearer, keys, tenants } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { portal } from '../fixtures/portal/sessions.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const keyLookup = memoryKeyLookup(apiKeys)

t.test('services get the engine first, and the plugin serves the API with it later', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage({ tenants }), delivery: false, portal, keyLookup, prefix: '/public' })
  await recruiting.emit(event)
  t.match(await recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'ada' }), { url: /^\/public\/portal\/#/ })
  const { logger, lines } = captureLogs()
  const app = Fastify({ logger })
  await app.register(async (scope) => {
    const none = { storage: undefined, keyLookup: undefined, prefix: undefined } as object
    const jobFields = Type.Object({ team: Type.Optional(Type.String()) })
    await scope.register(recruitingApi, { ...none, recruiting, jobFields })
    t.equal(scope.recruiting.emit, recruiting.emit)
    t.ok(scope.recruiting.scopes.includes('jobs:read'))
  }, { prefix: '/ats' })
  await app.ready()
  t.match(await recruiting.portal.createSession({ tenantSlug: 'acme', actor: 'ada' }), { url: /^\/ats\/public\/portal\/#/ })
  const read = async (path: string) => JSON.parse((await app.inject({ url: `/ats/public/acme${path}`, headers: bearer(keys.full) })).body)
  t.match(await read('/events'), { data: [{ type: 'application.created' }] })
  t.equal((await read('/jobs')).data.length, 2)
  recruiting.on('webhookDisabled', () => {})
  await app.close()
  await t.rejects(recruiting.emit(event), { code: 'closed' }, 'closing the server closes it')
  t.equal((await recruiting.health()).alive, false)
  t.match(lines, [], 'nothing failed')
})

t.test("the engine logs with the server's logger, unless it has its own", async (t) => {
  for (const own of [false, true]) {
    const logs = captureLogs()
    const lines: string[] = []
    const log = (_fields: object, message: string): void => { lines.push(message) }
    const recruiting = createRecruiting({
      storage: memoryStorage(),
      keyLookup,
      delivery: false,
      onAudit () { throw new Error('broken') },
      ...own ? { logger: { info: log, warn: log, error: log } } : {}
    })
    const app = Fastify({ logger: logs.logger })
    await app.register(recruitingApi, { recruiting })
    await recruiting.webhooks.list('acme')
    t.same([logs.lines.map(({ msg }) => msg), lines], own ? [[], ['the onAudit option failed']] : [['the onAudit option failed'], []])
    await app.close()
  }
})

t.test('a recorder can serve the API of a test', async (t) => {
  const recorder = recordEvents({ tenants })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, { recruiting: recorder.recruiting, keyLookup })
  await app.recruiting.emit(event)
  t.equal(recorder.events.length, 1)
  t.equal((await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) })).statusCode, 200)
})

t.test('options at the wrong place are rejected', async (t) => {
  const { candidates, ...others } = memoryStorage()
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false })
  const halved = createRecruiting({ storage: others, delivery: false })
  t.teardown(async () => { await recruiting.close(); await halved.close() })
  t.ok(candidates)
  for (const [options, field, problem] of [
    [{ recruiting: {} }, 'recruiting', 'expected the result of createRecruiting, got an object'],
    [{ recruiting: 'acme' }, 'recruiting', 'expected the result of createRecruiting, got "acme"'],
    [{ recruiting, keyLookup, storage: memoryStorage() }, 'storage', 'expected none, because the option recruiting has its own, got an object'],
    [{ recruiting, keyLookup, tenantId: () => 1 }, 'tenantId', 'expected none, because the option recruiting has its own, got a function'],
    [{ recruiting }, 'keyLookup', 'expected a function, got undefined'],
    [{ recruiting, keyLookup, prefixes: '/api' }, 'prefixes', 'expected a known name such as prefix, got "prefixes"'],
    [{ recruiting: halved, keyLookup }, 'storage.candidates', 'expected an object, got undefined']
  ] as const) {
    const app = Fastify()
    await t.rejects((async () => app.register(recruitingApi, options as never))(), { code: 'invalid_option', field, message: `${field}: ${problem}` })
    await app.close().catch(() => {})
  }
  t.throws(() => createRecruiting({ storage: memoryStorage(), recruiting } as never), { code: 'invalid_option', field: 'recruiting', message: /^recruiting: expected none, because only the plugin takes one, got/ })
  t.match(await recruiting.emit(event), { deliveries: 0 }, 'a failed registration closes nothing')
})
