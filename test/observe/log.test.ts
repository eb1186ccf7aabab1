import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyRequest, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import recruitingApi from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { createSafeLogger, createWarningLogger, toLoggableError } from '../../src/core/observe/logger.js'
import { apiKeys, type AppOverrides, bearer, buildApp, keys } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)
const query = 'filter[q]=Ada%20Lovelace&page=1&x&=Lovelace&filter%5Bq%5D=Lovelace'

/** A host's serializers that show the whole request. */
const serializers = { req: ({ url, query }: FastifyRequest) => ({ mine: url, query }) }

const routes: AppOverrides['routes'] = async (app) => {
  app.get('/own', { config: { scopes: [] }, logSerializers: serializers, schema: { response: { 204: Type.Null() } } }, async () => {})
}

const hosts: Record<string, AppOverrides & { logging?: object }> = {
  'no settings': {},
  'its own serializer': { logging: { serializers } },
  'its own request ids': { requestId: () => 'mine', logging: { serializers } },
  'its own logger factory': {
    logging: { serializers },
    before (app) {
      app.setChildLoggerFactory((logger, bindings, options) => logger.child({ ...bindings, service: 'ats' }, options))
    }
  },
  'its own logger factory and serializer': {
    before (app) {
      app.setChildLoggerFactory((logger, bindings, options) => logger.child(bindings, { ...options, serializers }))
    }
  },
  'its own operations and their own logger factory': {
    async routes (app, options) {
      app.setChildLoggerFactory((logger, bindings, options) => logger.child({ ...bindings, service: 'ats' }, options))
      await routes(app, options, () => {})
    }
  }
}

for (const [what, { logging = {}, ...overrides }] of Object.entries(hosts)) {
  t.test(`in a host with ${what}, the log has the path and parameter names, but no values`, async (t) => {
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

t.test("the host's serializers for the surrounding plugin show no values either", async (t) => {
  const logs = captureLogs()
  const app = Fastify({ logger: logs.logger })
  t.teardown(() => app.close())
  await app.register(async (child) => {
    const keyLookup = memoryKeyLookup(apiKeys)
    await child.register(recruitingApi, { storage: memoryStorage(), keyLookup, delivery: false })
  }, { logSerializers: { req: ({ url }: FastifyRequest) => url, res: () => 'mine' } })
  await app.inject({ url: `${base}/jobs?${query}`, headers })
  t.match((await logs.waitFor('incoming request')).req, { url: `${base}/jobs?filter[q]&page&x&&filter%5Bq%5D` })
  t.equal((await logs.waitFor('request completed')).res, 'mine', 'the other serializers are used')
})

interface Line {
  msg: string
  err: { message: string, stack: string, code?: string, name?: string, aggregateErrors?: Array<{ message: string }> }
}

function logged (thrown: unknown): Line {
  const lines: string[] = []
  const { log } = Fastify({ logger: { stream: { write (line) { lines.push(line) } } } })
  createSafeLogger(log).error({ err: thrown }, 'failed')
  return JSON.parse(lines.join(''))
}

t.test('an error is logged with its name, message, stack, code and causes, and no other properties', async (t) => {
  const cause = Object.assign(new Error('no route to host'), { code: 'EHOSTUNREACH', detail: 'canary' })
  const error = Object.assign(new RangeError('storage failed', { cause }), { code: 'E1', detail: 'canary', request: { body: 'canary' } })
  const { msg, err } = logged(error)
  t.equal(msg, 'failed')
  t.match(err, { name: 'RangeError', code: 'E1', message: 'storage failed: no route to host' })
  t.equal(err.stack, `${error.stack}\ncaused by: ${cause.stack}`)
  t.notMatch(JSON.stringify(err), 'canary')
})

t.test('at most ten errors of an AggregateError are logged', async (t) => {
  const errors = Array.from({ length: 12 }, (_, index) => new Error(`address ${index}`))
  const shown = logged(new AggregateError(errors)).err.aggregateErrors
  t.same(shown?.map(({ message }) => message), errors.slice(0, 10).map(({ message }) => message))
})

t.test('thrown values that are not errors are logged as text', async (t) => {
  for (const [value, text] of [
    [null, 'null'], [undefined, 'undefined'], ['', ''], ['text', 'text'], [404, '404'], [1n, '1'], [Symbol('s'), 'Symbol(s)'],
    [{ any: true }, 'an object without a readable message was thrown'], [{ message: null }, 'an object without a readable message was thrown'],
    [{ message: 5, code: 7 }, '5']
  ]) {
    t.equal(logged(value).err.message, text)
  }
  t.equal(logged({ message: 5, code: 7 }).err.code, '7')
})

for (const [what, thrown] of Object.entries(hostileErrors)) {
  t.test(`${what} is logged in one line`, async (t) => {
    const copy = toLoggableError(thrown)
    t.ok(copy instanceof Error && copy !== thrown)
    t.type(logged(thrown).err.message, 'string')
  })
}

t.test('without a logger, info lines do not become process warnings', async (t) => {
  const warned: string[] = []
  const listen = ({ message }: Error): void => { warned.push(message) }
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  const logger = createWarningLogger({ monotonic: () => 0 })
  logger.info({}, 'all is well')
  logger.warn({}, 'something is not')
  await new Promise(setImmediate)
  t.same(warned, ['something is not'])
})
