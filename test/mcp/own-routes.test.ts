import { Type } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import t from 'tap'
import type { HostRoutes } from '../../src/index.js'
import { type AppOverrides, type Teardown, buildApp, keys } from '../fixtures/api/app.js'
import { callTool, listTools, sendCall } from '../fixtures/api/mcp.js'

interface OwnRoute {
  method?: 'GET' | 'POST' | 'PUT' | ['GET', 'POST']
  url?: string
  config?: FastifyContextConfig
  schema?: { operationId?: string | undefined, hide?: boolean, params?: object, querystring?: object, body?: object, response?: object }
  answer?: unknown
}

const Answer = Type.Object({ data: Type.Unknown() }, { description: 'The answer' })

/** Routes of a host that answer with what they were sent. */
function echo (...routes: OwnRoute[]): HostRoutes {
  return async (app: FastifyInstance) => {
    for (const { method = 'GET', url = '/echo', config = {}, schema = {}, answer } of routes) {
      app.route({
        method,
        url,
        config: { scopes: ['jobs:read'], mcp: true, ...config },
        schema: { operationId: 'echoInput', summary: 'Echo', response: { 200: Answer }, ...schema } as FastifySchema,
        handler: async ({ query, body, params }) => answer ?? { data: { query, body, params } }
      })
    }
  }
}

function build (t: Teardown, routes: HostRoutes, overrides: AppOverrides = {}) {
  return buildApp(t, { mcp: true, routes, ...overrides })
}

t.test('a route of the host is a tool if its config says so', async (t) => {
  const app = await build(t, echo({}, { url: '/other', config: { mcp: false }, schema: { operationId: 'other' } }, { url: '/hidden', schema: { operationId: 'hidden', hide: true } }))
  const own = (await listTools(app, keys.full)).filter(({ name }) => /echo|other|hidden/.test(name))
  t.match(own, [{ name: 'echo_input', title: 'Echo', annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } }])
  t.equal(own.length, 1)
  t.notOk((await listTools(app, keys.candidatesRead)).some(({ name }) => name === 'echo_input'), 'for keys with its scopes')
  t.equal((await sendCall(app, keys.candidatesRead, 'echo_input')).statusCode, 403)
})

t.test('its config may name and describe the tool for agents', async (t) => {
  const app = await build(t, echo({ method: 'POST', config: { mcp: { name: 'say', description: 'Says it again', destructive: false, idempotent: true } }, schema: { body: Type.Object({}, { additionalProperties: false }) } }))
  const tool = (await listTools(app, keys.full)).find(({ name }) => name === 'say')
  t.match(tool, { description: /^Says it again\n/, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true } })
  t.match(await callTool(app, keys.full, 'say'), { structuredContent: { data: { query: {} } } })
})

t.test('changes of the host are destructive unless it says otherwise', async (t) => {
  const app = await build(t, echo({ method: 'POST', schema: { operationId: 'posted' } }, { method: 'POST', url: '/named', config: { mcp: { name: 'named' } }, schema: { operationId: undefined } }, { method: 'PUT', schema: { operationId: 'putIt' } }, { method: 'POST', url: '/search', config: { mcp: { readOnly: true } }, schema: { operationId: 'search' } }))
  const tools = await listTools(app, keys.full)
  t.match(tools.find(({ name }) => name === 'posted')?.annotations, { destructiveHint: true, idempotentHint: false })
  t.strictSame(await callTool(app, keys.full, 'posted', { more: 1 }), { isError: true, content: [{ type: 'text', text: 'Unknown argument. This tool takes none.' }] })
  t.match(tools.find(({ name }) => name === 'search')?.annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true })
  t.match(tools.find(({ name }) => name === 'put_it')?.annotations, { destructiveHint: true, idempotentHint: true })
})

t.test('a route that returns secrets to sessions of the portal returns none to agents', async (t) => {
  const app = await build(t, echo({ config: { capabilities: ['secrets'] } }))
  t.notOk((await listTools(app, keys.full)).some(({ name }) => name === 'echo_input'))
  t.match(await callTool(app, keys.full, 'echo_input'), { isError: true })
})

t.test('parameters and fields of the body are arguments, and a body of another form is one', async (t) => {
  const params = Type.Object({ id: Type.String(), part: Type.String() })
  const querystring = Type.Object({ dry: Type.Optional(Type.String()), 'where[a]': Type.Optional(Type.String()), 'where[b]': Type.Optional(Type.String()) })
  const bodies = [
    Type.Object({ name: Type.String(), size: Type.Integer({ default: 3 }) }, { additionalProperties: false }),
    Type.Array(Type.Integer()),
    Type.Object({ name: Type.String() }),
    Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })])
  ]
  const app = await build(t, echo(...bodies.map((body, index) => ({
    method: 'POST' as const, url: `/echo${index}/:id/parts/:part`, schema: { operationId: `echo${index}`, params, querystring, body }
  }))))
  const tools = await listTools(app, keys.full)
  t.strictSame(['echo0', 'echo1'].map((name) => tools.find((tool) => tool.name === name)?.inputSchema.required), [['id', 'part', 'name'], ['id', 'part', 'body']])
  const given = { id: 'a/b?c:part', part: 'ü', dry: true, where: { b: 'x&y' } }
  const expected = { query: { dry: 'true', 'where[b]': 'x&y' }, params: { tenant_slug: 'acme', id: 'a/b?c:part', part: 'ü' } }
  const sent = [{ name: 'x' }, { body: [1, 2] }, { body: { name: 'x', more: 1 } }, { body: { b: 'x' } }]
  const received = [{ name: 'x', size: 3 }, [1, 2], { name: 'x', more: 1 }, { b: 'x' }]
  for (const [index, body] of sent.entries()) {
    const { structuredContent } = await callTool(app, keys.full, `echo${index}`, { ...given, ...body })
    t.strictSame(structuredContent, { data: { ...expected, body: received[index] } })
  }
  t.match(await callTool(app, keys.full, 'echo1', given), { isError: true, content: [{ text: /^bad_request/ }] })
})

t.test('a response that is no object is text alone', async (t) => {
  const app = await build(t, echo(
    { schema: { response: { 200: Type.Array(Type.String()) } }, answer: ['a', 'b'] },
    { url: '/text', schema: { operationId: 'text', response: { 200: Type.String(), 201: Answer } }, answer: 'hello' }
  ))
  t.notOk((await listTools(app, keys.full)).some(({ name, outputSchema }) => ['echo_input', 'text'].includes(name) && outputSchema !== undefined))
  for (const [name, last] of [['echo_input', '"a"\n"b"'], ['text', '"hello"']] as const) {
    const { structuredContent, content: [{ text } = { text: '' }] } = await callTool(app, keys.full, name)
    t.strictSame([structuredContent, text.split('\n').slice(1).join('\n')], [undefined, last])
  }
})

t.test('schemas of results are not stricter than guarded texts', async (t) => {
  const schema = { response: { 200: Type.Object({ data: Type.Object({ format: Type.String({ format: 'uri', pattern: '^h', maxLength: 9, examples: ['h'] }), const: Type.Literal('a') }) }) } }
  const app = await build(t, echo({ schema, answer: { data: { format: 'http://a', const: 'a' } } }))
  const tool = (await listTools(app, keys.full)).find(({ name }) => name === 'echo_input')
  t.strictSame(tool?.outputSchema, {
    type: 'object',
    required: ['data'],
    properties: { data: { type: 'object', required: ['format', 'const'], properties: { format: { type: 'string' }, const: { const: 'a', type: 'string' } } } }
  })
})

t.test('a route that cannot be a tool fails the registration', async (t) => {
  const cases: Array<[OwnRoute[], RegExp]> = [
    [[{ schema: { operationId: undefined } }], /config\.mcp\.name or an operationId for .*\/echo, of 1 to 64 letters/],
    [[{ config: { mcp: { name: 'two words' } } }], /config\.mcp\.name or an operationId/],
    [[{}, { url: '/echo2' }], /tools with different names, got "echo_input"/],
    [[{ schema: { operationId: 'listJobs' } }], /tools with different names, got "list_jobs"/],
    [[{ url: '/files/*' }], /a path whose parameters are whole parts, and one method, for the tool echo_input, got "GET \/files\/\*"/],
    [[{ url: '/echo/:id(\\d+)' }], /a path whose parameters are whole parts/],
    [[{ method: ['GET', 'POST'] }], /and one method/],
    [[{ method: 'POST', url: '/echo/:id', schema: { body: Type.Object({ id: Type.String() }, { additionalProperties: false }) } }], /different names of parameters and body fields for the tool echo_input, got "id, id"/]
  ]
  for (const [routes, message] of cases) await t.rejects(build({ teardown () {} }, echo(...routes)), { code: 'invalid_option', field: 'routes', message })
})
