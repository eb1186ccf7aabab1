import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyRequest, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import recruitingApi from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { type AppOverrides, apiKeys, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)
const query = 'filter[q]=Ada%20Lovelace&page=1&x&=Lovelace&filter%5Bq%5D=Lovelace'

/** Serializers that show the whole request, as a host may have them. */
const serializers = { req: ({ url, query }: FastifyRequest) => ({ mine: url, query }) }

const routes: AppOverrides['routes'] = async (app) => {
  app.get('/own', { config: { scopes: [] }, logSerializers: serializers, schema: { response: { 204: Type.Null() } } }, async () => {})
}

const hosts: Record<string, AppOverrides & { logging?: object }> = {
  'no settings': {},
  'a serializer of its own': { logging: { serializers } },
  'ids of its own': { requestId: () => 'mine', logging: { serializers } },
  'loggers that it makes itself': {
    logging: { serializers },
    before (app) { app.setChildLoggerFactory((logger, bindings) => logger.child({ ...bindings, service: 'ats' })) }
  },
  'loggers that it makes itself, with a serializer of its own': {
    before (app) {
      app.setChildLoggerFactory((logger, bindings, options) => logger.child(bindings, { ...options, serializers }))
    }
  },
  'operations of its own that make their loggers with a serializer': {
    async routes (app, options) {
      app.setChildLoggerFactory((logger, bindings, options) => logger.child(bindings, { ...options, serializers }))
      await routes(app, options, () => {})
    }
  },
  'operations of its own that make their loggers themselves': {
    async routes (app, options) {
      app.setChildLoggerFactory((logger, bindings, options) => logger.child({ ...bindings, service: 'ats' }, options))
      await routes(app, options, () => {})
    }
  }
}

for (const [what, { logging = {}, ...overrides }] of Object.entries(hosts)) {
  t.test(`in a host with ${what} the log has the path and the names of the parameters, and none of their values`, async (t) => {
    const logs = captureLogs()
    const server: FastifyServerOptions = { logger: { ...logs.logger, ...logging } }
    const app = await buildApp(t, { server, routes, ...overrides })
    for (const path of [`${base}/candidates`, `${base}/nothing`, `${base}/own`, '/api/v1/public/openapi.json']) {
      logs.lines.length = 0
      await app.inject({ url: `${path}?${query}`, headers })
      const line = await logs.waitFor('incoming request')
      t.match(line.req, { method: 'GET', url: `${path}?filter[q]&page&x&&filter%5Bq%5D`, host: 'localhost:80', remoteAddress: '127.0.0.1' })
    }
    t.notMatch(logs.text(), 'Lovelace')
  })
}

t.test('serializers that the host gives to the plugin around it show no values either', async (t) => {
  const logs = captureLogs()
  const app = Fastify({ logger: logs.logger })
  t.teardown(() => app.close())
  await app.register(async (child) => {
    await child.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup(apiKeys), delivery: false })
  }, { logSerializers: { req: ({ url }: FastifyRequest) => url, res: () => 'mine' } })
  await app.inject({ url: `${base}/jobs?${query}`, headers })
  t.match((await logs.waitFor('incoming request')).req, { url: `${base}/jobs?filter[q]&page&x&&filter%5Bq%5D` })
  t.equal((await logs.waitFor('request completed')).res, 'mine', 'the other serializers are used')
})

t.test('serializers that the host gives to a plugin of its own routes are used', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, {
    server: { logger: logs.logger },
    async routes (app) {
      await app.register(async (child) => {
        child.get('/own', { config: { scopes: [] }, schema: { response: { 200: Type.Object({}) } } }, async ({ log }) => {
          log.info({ person: 'Ada' }, 'read')
          return {}
        })
      }, { logSerializers: { person: () => 'REDACTED' } })
    }
  })
  t.equal((await app.inject({ url: `${base}/own`, headers })).statusCode, 200)
  t.match(await logs.waitFor('read'), { person: 'REDACTED' })
})

t.test('a level that the host changes later holds for the API', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { server: { logger: logs.logger } })
  await app.inject({ url: `${base}/jobs`, headers })
  app.log.level = 'error'
  logs.lines.length = 0
  await app.inject({ url: `${base}/jobs`, headers })
  t.same(logs.lines, [])
  app.log.level = 'info'
  await app.inject({ url: `${base}/jobs`, headers })
  t.ok(await logs.waitFor('incoming request'))
})

t.test('lines of the host\'s own routes are as without the plugin', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { server: { logger: logs.logger }, before (app) { app.get('/own', async () => 'own') } })
  await app.inject('/own?a=1')
  t.match((await logs.waitFor('incoming request')).req, { url: '/own?a=1' })
})
