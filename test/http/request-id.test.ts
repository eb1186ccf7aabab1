import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'

const base = '/api/v1/public/acme'
const generated = /^req_[A-Za-z0-9_-]{20,}$/

t.test('every response has a unique, generated id', async (t) => {
  const apps = [await buildApp(t), await buildApp(t)]
  const ids = new Set<string>()
  for (let round = 0; round < 100; round++) {
    for (const app of apps) {
      for (const url of [`${base}/jobs`, `${base}/jobs?page=0`, `${base}/nothing`]) {
        const { headers } = await app.inject({ url, headers: bearer(keys.full) })
        ids.add(String(headers['x-request-id']))
      }
    }
  }
  t.equal(ids.size, 600)
  t.same([...ids].filter((id) => !generated.test(id)), [])
})

t.test('an id sent by the caller is not used, even if the host uses it', async (t) => {
  const servers: FastifyServerOptions[] = [
    {}, { requestIdHeader: 'x-request-id' }, { genReqId: () => 'the-host-s' }
  ]
  for (const server of servers) {
    const app = await buildApp(t, { server })
    const headers = { ...bearer(keys.full), 'x-request-id': 'sent-by-the-caller', 'request-id': 'sent-by-the-caller' }
    for (const url of [`${base}/jobs`, `${base}/nothing`]) {
      const answer = await app.inject({ url, headers })
      t.match(answer.headers['x-request-id'], generated)
      t.notMatch(answer.body, 'sent-by-the-caller')
    }
  }
})

t.test('the id is bound to the request\'s logger', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, {
    server: { logger: logs.logger },
    before (app) {
      app.addHook('onResponse', async (request, reply) => {
        request.log.info('from the request')
        reply.log.info('from the reply')
      })
    }
  })
  for (const url of [`${base}/jobs`, `${base}/nothing`]) {
    logs.lines.length = 0
    const { headers } = await app.inject({ url, headers: bearer(keys.full) })
    const bound = logs.lines.filter(({ msg }) => msg.startsWith('from the'))
    t.same(bound.map((line) => line.request_id), [headers['x-request-id'], headers['x-request-id']])
  }
})

t.test('a host can still create the request loggers', async (t) => {
  const logs = captureLogs()
  const bound: unknown[] = []
  const app = await buildApp(t, {
    server: { logger: logs.logger },
    before (app) {
      app.setChildLoggerFactory((logger, bindings, options) => {
        bound.push(bindings)
        return logger.child({ ...bindings, service: 'ats' }, options)
      })
      app.get('/own', () => 'own')
    }
  })
  const { headers } = await app.inject({ url: `${base}/jobs`, headers: bearer(keys.full) })
  await app.inject('/own')
  t.same(bound, [{ reqId: 'req-1', request_id: headers['x-request-id'] }, { reqId: 'req-2' }])
  const line = logs.lines.find(({ msg }) => msg === 'request completed')
  t.match(line, { service: 'ats', request_id: headers['x-request-id'] })
})

t.test('a host can use its own ids of 1 to 200 characters, created once per request', async (t) => {
  const made: string[] = []
  const app = await buildApp(t, {
    requestId (request) {
      made.push(String(request.headers['x-trace'] ?? randomUUID()))
      return made.at(-1) ?? ''
    }
  })
  for (const url of [`${base}/jobs`, `${base}/jobs?page=0`, `${base}/nothing`]) {
    for (const trace of [{}, { 'x-trace': '!' }, { 'x-trace': '~'.repeat(200) }]) {
      made.length = 0
      const answer = await app.inject({ url, headers: { ...bearer(keys.full), ...trace } })
      t.same(made, [answer.headers['x-request-id']])
      if (answer.statusCode !== 200) t.equal(answer.json().error.request_id, made[0])
    }
  }
})

const returned = {
  'an empty id': '',
  'a line feed': 'a\nx-evil: 1',
  '201 characters': 'x'.repeat(201),
  'a number': 12345678901234567890n,
  nothing: undefined,
  'a promise': Promise.resolve('an-id'),
  'a thenable that throws': { then () { throw new Error('canary') } }
}

const unusable: Array<[what: string, requestId: () => unknown]> = [
  ...Object.entries(returned).map(([what, id]): [string, () => unknown] => [what, () => id]),
  ...Object.entries({ 'an error': new Error('canary'), ...hostileErrors })
    .flatMap(([what, thrown]): Array<[string, () => unknown]> => [
      [`${what} that it throws`, () => { throw thrown }], [`${what} that it rejects with`, async () => { throw thrown }]
    ])
]

t.test('any other result of the requestId option is replaced by a generated id, and logged', async (t) => {
  const rejections = watchRejections(t)
  for (const [what, requestId] of unusable) {
    const logs = captureLogs()
    const app = await buildApp(t, { requestId: requestId as never, server: { logger: logs.logger } })
    const answer = await app.inject({ url: `${base}/nothing`, headers: bearer(keys.full) })
    checkError(t, answer, 404, what)
    t.match(answer.headers['x-request-id'], generated)
    t.same(logs.lines.filter(({ level }) => level === 50).map((line) => [line.request_id, line.msg]), [
      [answer.headers['x-request-id'], 'the requestId option returned no valid id, so one was generated']
    ], what)
  }
  await setImmediate()
  t.same(rejections, [])
})
