import { gunzipSync, gzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { type AppOverrides, buildApp } from '../fixtures/api/app.js'
import { base, listFiles, policyFor, protectedHeaders } from '../fixtures/portal/files.js'
import { portal } from '../fixtures/portal/sessions.js'

/** The answers to all files, without their date. */
async function read (app: FastifyInstance) {
  const { all } = await listFiles(app)
  return Promise.all(all.map(async (path) => {
    const { statusCode, headers: { date: _, ...headers }, body } = await app.inject(`${base}${path}`)
    return { path, statusCode, headers, body }
  }))
}

const framings: Array<[frameAncestors: string[], sources: string, options: string | undefined]> = [
  [[], "'none'", 'DENY'],
  [['self'], "'self'", 'SAMEORIGIN'],
  [['https://ats.example', 'http://localhost:3000'], 'https://ats.example http://localhost:3000', undefined],
  [['self', 'https://ats.example'], "'self' https://ats.example", undefined]
]

t.test('frameAncestors decides who may embed the portal, in both headers', async (t) => {
  for (const [frameAncestors, sources, options] of framings) {
    const app = await buildApp(t, { portal: { ...portal, frameAncestors } })
    for (const { headers } of await read(app)) {
      t.same([headers['content-security-policy'], headers['x-frame-options']], [policyFor(sources), options])
    }
  }
})

const helmets: Record<string, (app: FastifyInstance) => unknown> = {
  'with its defaults': (app) => app.register(helmet),
  'with nonces': (app) => app.register(helmet, { enableCSPNonces: true }),
  'with a policy of the host': (app) => app.register(helmet, { contentSecurityPolicy: { directives: { defaultSrc: ['*'], frameAncestors: ['*'] } }, xFrameOptions: { action: 'deny' } }),
  'for the policy alone': (app) => app.register(helmet, { frameguard: false, referrerPolicy: { policy: 'unsafe-url' }, noSniff: false, crossOriginOpenerPolicy: { policy: 'unsafe-none' } })
}

for (const [what, add] of Object.entries(helmets)) {
  t.test(`helmet ${what}, registered before or after, neither weakens the headers nor breaks the page, and keeps its others`, async (t) => {
    for (const [frameAncestors, sources, options] of framings) {
      for (const when of ['before', 'after'] as const) {
        const app = await buildApp(t, { portal: { ...portal, frameAncestors }, [when]: async (app: FastifyInstance) => { await add(app) } })
        for (const { path, statusCode, headers } of await read(app)) {
          const shown = [statusCode, ...Object.keys(protectedHeaders).map((name) => headers[name])]
          t.same(shown, [200, policyFor(sources), 'same-origin', 'no-referrer', 'nosniff', options], `${path} ${when}`)
          t.ok(headers['strict-transport-security'])
        }
      }
    }
  })
}

t.test('helmet protects the host\'s own routes as it does without the portal', async (t) => {
  const addAll = async (app: FastifyInstance): Promise<void> => {
    await app.register(helmet)
    app.get('/own', async () => ({}))
  }
  const ask = async (overrides: AppOverrides) => {
    const { headers: { date: _, ...headers } } = await (await buildApp(t, { before: addAll, ...overrides })).inject('/own')
    return headers
  }
  t.same(await ask({ portal }), await ask({}))
})

/** Settings and hooks of a host that change answers. */
const changes: Record<string, (app: FastifyInstance) => unknown> = {
  'wraps every body': (app) => app.addHook('onSend', async (_request, _reply, payload) => JSON.stringify({ mine: String(payload) })),
  'sends no body': (app) => app.addHook('onSend', async () => ''),
  'sets every status to 202': (app) => app.addHook('onSend', async (_request, reply) => { reply.code(202) }),
  'sets headers': (app) => app.addHook('onSend', async (_request, reply) => {
    reply.headers({
      'content-type': 'text/plain', 'cache-control': 'public', 'content-length': '5', etag: '"mine"', 'content-security-policy': 'default-src *', 'x-frame-options': 'ALLOWALL'
    })
  }),
  'sets headers on the raw response': (app) => app.addHook('onSend', async (_request, reply) => { reply.raw.setHeader('Content-Security-Policy', 'default-src *') }),
  'serializes by itself': (app) => app.setReplySerializer(() => '"mine"'),
  'has a serializer': (app) => app.setSerializerCompiler(() => () => '"mine"'),
  'wraps every object': (app) => app.addHook('preSerialization', async (_request, _reply, payload) => ({ mine: payload })),
  'has handlers of its own': (app) => {
    app.setErrorHandler((_error, _request, reply) => reply.code(418).send())
    app.setNotFoundHandler((_request, reply) => reply.code(418).send())
  },
  'has a validator that refuses everything': (app) => app.setValidatorCompiler(() => () => ({ error: new Error('mine') }))
}

t.test('no hook, serializer or handler of the host changes a file', async (t) => {
  const plain = await read(await buildApp(t, { portal }))
  t.same(plain.map(({ statusCode }) => statusCode), plain.map(() => 200))
  for (const [what, change] of Object.entries(changes)) {
    for (const when of ['before', 'after'] as const) {
      const app = await buildApp(t, { portal, openapi: false, [when]: async (app: FastifyInstance) => { await change(app) } })
      t.same(await read(app), plain, `a host that ${what}, ${when}`)
      const [{ headers = {} } = {}] = plain
      const known = await app.inject({ url: base, headers: { 'if-none-match': String(headers.etag) } })
      t.same([known.statusCode, known.body], [304, ''], `a host that ${what}, ${when}, and a client that has the page`)
    }
  }
})

/** What hosts compress with: the plugin, and a hook of their own. */
const compressors: Record<string, (app: FastifyInstance) => unknown> = {
  '@fastify/compress': (app) => app.register(compress, { threshold: 0 }),
  'an onSend hook': (app) => app.addHook('onSend', async (request, reply, payload) => {
    if (request.headers['accept-encoding'] !== 'gzip' || payload === undefined) return payload
    reply.header('content-encoding', 'gzip')
    return gzipSync(payload as Buffer)
  })
}

for (const [what, add] of Object.entries(compressors)) {
  t.test(`files that the host compresses by ${what} are the same once they are inflated`, async (t) => {
    for (const when of ['before', 'after'] as const) {
      const app = await buildApp(t, { portal, openapi: false, [when]: async (app: FastifyInstance) => { await add(app) } })
      for (const { path, headers, body } of await read(app)) {
        const answer = await app.inject({ url: `${base}${path}`, headers: { 'accept-encoding': 'gzip' } })
        if (when === 'before') t.equal(answer.headers['content-encoding'], 'gzip')
        t.equal((answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.rawPayload) : answer.rawPayload).toString(), body, path)
        t.match(answer.headers, { ...protectedHeaders, 'content-type': String(headers['content-type']), etag: String(headers.etag) })
        const known = await app.inject({ url: `${base}${path}`, headers: { 'accept-encoding': 'gzip', 'if-none-match': String(headers.etag) } })
        t.equal(known.statusCode, 304)
        const head = await app.inject({ method: 'HEAD', url: `${base}${path}`, headers: { 'accept-encoding': 'gzip' } })
        t.same([head.statusCode, head.body], [200, ''])
      }
    }
  })
}

t.test('an answer that a hook sends by itself is the host\'s own', async (t) => {
  const app = await buildApp(t, { portal, before (app) { app.addHook('onRequest', async (_request, reply) => reply.code(503).send({ mine: true })) }, openapi: false })
  const answer = await app.inject(base)
  t.same([answer.statusCode, answer.body], [503, '{"mine":true}'])
})
