import { parse } from 'node:querystring'
import type { FastifyInstance, FastifyReply } from 'fastify'
import t from 'tap'
import type { AppOverrides } from '../../fixtures/api/app.js'
import { probe } from '../../fixtures/fuzz/probes.js'

/** Reads `a[b]=c` as nested objects, the way that the package qs does. */
function parseNested (text: string): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(parse(text))) {
    const [, outer = '', inner = ''] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    if (outer === '') values[name] = value
    else values[outer] = { ...values[outer] as object, [inner]: value }
  }
  return values
}

function sendCanary (_error: unknown, _request: unknown, reply: FastifyReply): void {
  reply.code(418).send({ canary: true })
}

/** What a host does with its own instance. It may do so before it registers the plugin, and after. */
const calls: Record<string, (app: FastifyInstance) => void> = {
  'a validator that lets everything through': (app) => { app.setValidatorCompiler(() => () => true) },
  'a validator that refuses everything': (app) => { app.setValidatorCompiler(() => () => ({ error: new Error('canary') })) },
  'a serializer that writes all that a row holds': (app) => { app.setSerializerCompiler(() => (data) => JSON.stringify(data)) },
  'a serializer that writes something else': (app) => { app.setSerializerCompiler(() => () => '"canary"') },
  'a reply serializer': (app) => { app.setReplySerializer(() => '"canary"') },
  'an error handler': (app) => { app.setErrorHandler(sendCanary) },
  'an error handler that throws': (app) => { app.setErrorHandler(() => { throw new Error('canary') }) },
  'a not-found handler': (app) => { app.setNotFoundHandler((_request, reply) => reply.code(200).send({ canary: true })) },
  'a schema error formatter': (app) => { app.setSchemaErrorFormatter(() => new Error('canary')) },
  'an envelope around every answer': (app) => { app.addHook('preSerialization', async (_request, _reply, payload) => ({ canary: payload })) },
  'a hook that replaces every answer': (app) => { app.addHook('preSerialization', async () => ({ canary: true })) },
  'a hook for errors': (app) => { app.addHook('onError', async () => {}) },
  'a query of its own making': (app) => { app.addHook('onRequest', async (request) => { request.query = { canary: '1' } }) },
  'a JSON parser of its own': (app) => {
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => done(null, { canary: true }))
  },
  'a parser for every media type': (app) => {
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, { canary: true }))
  },
  'a parser for text and forms': (app) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', /\+json$/]) {
      app.addContentTypeParser(type, { parseAs: 'string' }, (_request, _body, done) => done(null, {}))
    }
  },
  'no parser at all': (app) => { app.removeAllContentTypeParsers() },
  'schemas and decorators': (app) => {
    app.addSchema({ $id: 'Candidate', type: 'string' })
    app.decorateRequest('tenant', '')
    app.decorateReply('tenant', '')
  }
}

/** Options of the host's instance. */
const servers: Record<string, AppOverrides['server']> = {
  'an Ajv that coerces, removes and fills in': {
    ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: false } }
  },
  'an Ajv with a keyword that refuses everything': {
    ajv: { customOptions: { strict: false }, onCreate (ajv) { ajv.addFormat('date-time', () => false) } }
  },
  'compilers of its own': {
    schemaController: {
      compilersFactory: {
        buildValidator: (() => () => () => true) as never,
        buildSerializer: () => () => () => '"canary"'
      }
    }
  },
  'a schema error formatter as an option': { schemaErrorFormatter: () => new Error('canary') },
  'a nested query parser': { routerOptions: { querystringParser: parseNested } },
  'a query parser that invents things': { routerOptions: { querystringParser: () => ({ canary: '1', page: '7' }) } },
  'a small body limit': { bodyLimit: 10 },
  'a large body limit': { bodyLimit: 50_000_000 },
  'no HEAD routes': { exposeHeadRoutes: false },
  'HEAD routes': { exposeHeadRoutes: true },
  'prototypes that may be poisoned': { onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' },
  'prototypes that are removed': { onProtoPoisoning: 'remove', onConstructorPoisoning: 'remove' },
  'serializer options': { serializerOpts: { rounding: 'ceil', mode: 'standalone' } },
  'request ids of its own': { genReqId: () => 'canary', requestIdHeader: 'x-request-id', requestIdLogLabel: 'request_id' },
  'a trusted proxy': { trustProxy: true },
  'an answer to what the router cannot read': { frameworkErrors: sendCanary }
}

t.test('no setting of the host changes an answer', async (t) => {
  const plain = await probe(t, {})
  t.ok(plain.length >= 50, 'there are probes')
  t.notMatch(plain.join(), /canary/)
  for (const [what, apply] of Object.entries(calls)) {
    t.same(await probe(t, { before: apply }), plain, `${what}, set before the plugin is registered`)
    t.same(await probe(t, { after: apply }), plain, `${what}, set after the plugin is registered`)
  }
  for (const [what, server] of Object.entries(servers)) {
    if (server !== undefined) t.same(await probe(t, { server }), plain, what)
  }
})

t.test('all the settings together change no answer', async (t) => {
  const { 'no parser at all': _, ...others } = calls
  const applyAll = (app: FastifyInstance): void => { for (const apply of Object.values(others)) apply(app) }
  t.same(await probe(t, { server: Object.assign({ allowErrorHandlerOverride: true }, ...Object.values(servers)), before: applyAll }), await probe(t, {}))
})
