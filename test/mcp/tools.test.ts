import { Type } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import t from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import type { RecruitingRoutes } from '../../src/index.js'
import { type AppOverrides, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { callTool, listTools, sendCall, sendMessage, textOf } from '../fixtures/api/mcp.js'
import { operationRules, reading } from '../fixtures/api/operation-rules.js'
import { titleInDocument } from '../fixtures/api/routes.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { portal } from '../fixtures/portal/sessions.js'
import type { OpenApi } from '../fixtures/api/document.js'

/** The hints of the contract by tool, for the operations in the document. */
async function expectedHints (app: FastifyInstance, { returnsSecret = false } = {}) {
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [titleInDocument(method, path), operation] as const))
  return Object.fromEntries(operations.flatMap(([title, operation]) => {
    const rule = operationRules[title]
    const isTool = rule?.hints !== null && (returnsSecret || rule?.returnsSecret !== true)
    const name = operation.operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return isTool ? [[name, rule?.hints ?? reading] as const] : []
  }))
}

async function listHints (app: FastifyInstance) {
  const tools = await listTools(app, keys.full)
  return Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations] as const))
}

t.test('every operation that returns no secret is a tool with the right hints', async (t) => {
  const app = await buildApp(t, { mcp: true })
  t.strictSame(await listHints(app), await expectedHints(app))
})

t.test('with secrets, creating and rotating are tools too', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true }, storage: memoryStorage({ tenants: { acme: {} } }) })
  t.strictSame(await listHints(app), await expectedHints(app, { returnsSecret: true }))
  const result = await callTool(app, keys.full, 'create_webhook', { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] })
  t.match(result.structuredContent, { data: { id: 1, secret: /^whsec_/ } })
})

t.test('without secrets, creating and rotating are rejected, and nothing happens', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const name of ['create_webhook', 'rotate_webhook_secret']) {
    const result = await callTool(app, keys.full, name, { id: 1, name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] })
    t.strictSame(result, {
      isError: true,
      content: [
        {
          type: 'text',
          text: `${name} returns a secret, which this server never shows to agents. Ask a person to do it.`
        }
      ]
    })
  }
  t.match((await callTool(app, keys.full, 'list_webhooks')).structuredContent, { data: [], meta: { total: 0 } })
})

t.test('the list of tools is short', async (t) => {
  for (const mcp of [true, { secrets: true }]) {
    const { body } = await sendMessage(await buildApp(t, { mcp, portal }), keys.full, 'tools/list')
    const { tools } = JSON.parse(body).result
    t.ok(body.length < 1240 * tools.length, `${body.length} bytes for ${tools.length} tools`)
  }
})

t.test('names, texts and parameters match the document', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true } })
  const document: OpenApi = (await app.inject('/api/v1/public/openapi.json')).json()
  const operations = new Map(Object.values(document.paths).flatMap((path) => Object.values(path))
    .map((operation) => [operation.operationId.toLowerCase(), operation]))
  const tools = await listTools(app, keys.full)
  const withoutTool = Object.values(operationRules).filter(({ hints }) => hints === null)
  t.equal(tools.length, operations.size - withoutTool.length)
  for (const { name, description, inputSchema } of tools) {
    const operation = operations.get(name.replaceAll('_', ''))
    t.equal(description, `${operation?.summary}. ${operation?.description.split('\n\nNeeds')[0]}`)
    const parameters = operation?.parameters.filter((parameter) => parameter.in !== 'header')
      .map((parameter) => parameter.name).filter((parameter) => parameter !== 'tenant_slug') ?? []
    const { idempotency_key: _, ...described } = inputSchema.properties
    const given = Object.entries(described).flatMap(([argument, { properties }]) => {
      return argument === 'filter' ? Object.keys(properties ?? {}).map((member) => `filter[${member}]`) : [argument]
    })
    t.strictSame(given.filter((argument) => parameters.includes(argument)).sort(), parameters.sort(), `${name} has all parameters`)
    t.equal(given.length > parameters.length, operation?.requestBody !== undefined, `${name} has fields of a body if the operation has one`)
  }
})

t.test('an unknown tool is a protocol error', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const name of ['nothing', 'listCandidates', '', '__proto__', 'mcp']) {
    const answer = await sendMessage(app, keys.full, 'tools/call', { name })
    t.match(answer.json(), { error: { code: -32602, message: 'Unknown tool' } }, name)
  }
})

t.test('lists describe how to continue', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const first = await callTool(app, keys.full, 'list_candidates', { per_page: 2 })
  t.match(textOf(first), /^Page 1 of 2, 3 items in total\. To continue, call this again with "page": 2\.\n/)
  const last = await callTool(app, keys.full, 'list_candidates', { per_page: 2, page: 2 })
  t.match(textOf(last), /^Page 2 of 2, 3 items in total\. There are no more pages\.\n/)
  t.match(last.structuredContent, { data: [{ id: 3 }], meta: { page: 2, total_pages: 2 } })
  const synced = await callTool(app, keys.full, 'sync_candidates', { per_page: 2 })
  const { next_token: token } = synced.structuredContent?.meta ?? {}
  t.ok(textOf(synced).startsWith(`There is more: call this again with "token": "${String(token)}".\n`))
  const rest = await callTool(app, keys.full, 'sync_candidates', { token })
  t.match(textOf(rest), /^That is all for now\. To read later changes, call this again with "token": "[^"]+"\.\n/)

  for (const id of [1, 2]) await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { id } })
  const given = { since: '2020-01-01T00:00:00Z', per_page: 1 }
  const events = await callTool(app, keys.full, 'list_events', given)
  const { next_token: next } = events.structuredContent?.meta ?? {}
  t.ok(textOf(events).startsWith(`There is more: call this again without "since" and with "token": "${String(next)}".\n`))
  t.match(await callTool(app, keys.full, 'list_events', { ...given, since: null, token: next }), { structuredContent: { data: [{ data: { id: 2 } }] } })
})

t.test('with an idempotency key, repeated calls of a tool that changes data take effect once', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true }, secretKeys: [Buffer.alloc(32)] })
  for (const { name, annotations, inputSchema } of await listTools(app, keys.full)) {
    t.equal('idempotency_key' in inputSchema.properties, annotations['readOnlyHint'] === false, name)
  }
  const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] }
  // A client that sends a fixed header with every message must not repeat its first call.
  const create = (given: object) => callTool(app, keys.full, 'create_webhook', { ...webhook, ...given }, { headers: { 'idempotency-key': 'fixed' } })
  const first = await create({ idempotency_key: 'once' })
  t.strictSame(await create({ idempotency_key: 'once' }), first)
  t.match(await create({ idempotency_key: 'once', name: 'HR' }), { isError: true, content: [{ text: /^bad_request: / }] })
  t.match(
    [await create({ idempotency_key: null }), await create({}), await create({ idempotency_key: 4 }), await create({ idempotency_key: '4' })],
    [2, 3, 4, 4].map((id) => ({ structuredContent: { data: { id } } }))
  )
  for (const wrong of ['', 'two words', 'a\nb', 'é', 'x'.repeat(256), {}, ['a']]) {
    const result = await create({ idempotency_key: wrong })
    t.match(result, { isError: true, content: [{ text: 'idempotency_key must be 1 to 255 visible ASCII characters, without spaces.' }] })
  }
  const end = { id: 1, idempotency_key: 'end' }
  t.match([await callTool(app, keys.full, 'delete_webhook', end), await callTool(app, keys.full, 'delete_webhook', end)], [{ content: [{ text: 'Done.' }] }, { isError: true }])
})

t.test('list_events reads only the events that fit into its result', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { mcp: true, storage })
  for (let id = 1; id <= 30; id++) {
    const data = { id, texts: Array.from({ length: 3 }, () => 'x'.repeat(3000)) }
    await app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.created', data })
  }
  calls.length = 0
  const result = await callTool(app, keys.full, 'list_events', { per_page: 100 })
  t.match(textOf(result), /^There is more: call this again with "token"/)
  t.match(result.structuredContent, { data: { length: 2 } })
  const pages = calls.filter(({ method }) => method === 'feed.list').map(({ args }) => args[1])
  t.match(pages, { 0: { maxBytes: 20_000 }, length: 1 })
})

t.test('filters, sort and bodies arrive as over HTTP', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true } })
  const filtered = await callTool(app, keys.full, 'list_candidates', { filter: { q: 'a', recruiter_id: 11, updated_after: null }, sort: '-updated_at' })
  t.match(filtered.structuredContent, { data: [{ id: 1 }, { id: 3 }], meta: { total: 2 } })
  t.match(await callTool(app, keys.full, 'list_candidates', { filter: null }), { structuredContent: { meta: { total: 3 } } })
  await callTool(app, keys.full, 'create_webhook', { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] })
  t.match(await callTool(app, keys.full, 'update_webhook', { id: 1, name: 'HR' }), { structuredContent: { data: { id: 1, name: 'HR' } } })
  const { structuredContent } = await callTool(app, keys.full, 'replay_webhook', { id: 1, dry_run: true })
  t.match(structuredContent, { data: { webhook_id: 1, queued: 0 } })
  t.strictSame(await callTool(app, keys.full, 'delete_webhook', { id: 1 }), { content: [{ type: 'text', text: 'Done.' }] })
})

t.test('a path cannot be an id', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const id of ['sync', '..', '%2e%2e', 'sync?']) {
    t.match(await callTool(app, keys.full, 'get_job', { id }), { isError: true, structuredContent: undefined }, id)
  }
})

t.test('prompts contain only tools of the caller, and a time', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const names = async (key: string) => (await sendMessage(app, key, 'prompts/list')).json().result.prompts.map(({ name }: { name: string }) => name)
  t.strictSame(await names(keys.full), ['failures_this_week', 'changes_since_yesterday'])
  t.strictSame(await names(keys.webhooks), ['failures_this_week'])
  t.strictSame(await names(keys.candidatesRead), [])
  const tools = (await listTools(app, keys.full)).map(({ name }) => name)
  for (const [name, days] of [['failures_this_week', 7], ['changes_since_yesterday', 1]] as const) {
    const { messages: [{ content: { text } }] } = (await sendMessage(app, keys.full, 'prompts/get', { name })).json().result
    for (const [tool = ''] of text.matchAll(/\b(?:list|get)_\w+/g)) t.ok(tools.includes(tool), tool)
    const [since] = /\d{4}-[\d-]+T[\d:.]+Z/.exec(text) ?? []
    t.ok(Math.abs(Date.now() - days * 86_400_000 - Date.parse(String(since))) < 60_000)
  }
  t.match((await sendMessage(app, keys.candidatesRead, 'prompts/get', { name: 'failures_this_week' })).json(), { error: { code: -32602, message: 'Unknown prompt' } })
})

interface OwnRoute {
  method?: 'GET' | 'POST' | 'PUT' | ['GET', 'POST']
  url?: string
  config?: FastifyContextConfig
  schema?: Omit<FastifySchema, 'operationId'> & { operationId?: string | undefined }
  answer?: unknown
}

const Answer = Type.Object({ data: Type.Unknown() }, { description: 'The answer' })

/** Host routes that return their input. */
function echo (...routes: OwnRoute[]): RecruitingRoutes {
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

function build (t: Teardown, routes: RecruitingRoutes, overrides: AppOverrides = {}) {
  return buildApp(t, { mcp: true, routes, ...overrides })
}

t.test('a host route is a tool if its config declares it', async (t) => {
  const app = await build(t, echo({}, { url: '/other', config: { mcp: false }, schema: { operationId: 'other' } }, { url: '/hidden', schema: { operationId: 'hidden', hide: true } }))
  const own = (await listTools(app, keys.full)).filter(({ name }) => /echo|other|hidden/.test(name))
  t.match(own, [{ name: 'echo_input', title: 'Echo', annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true } }])
  t.equal(own.length, 1)
  t.notOk((await listTools(app, keys.candidatesRead)).some(({ name }) => name === 'echo_input'), 'only for keys with its scopes')
  t.equal((await sendCall(app, keys.candidatesRead, 'echo_input')).statusCode, 403)
})

t.test('its config can name and describe the tool for agents', async (t) => {
  const app = await build(t, echo({ method: 'POST', config: { mcp: { name: 'say', description: 'Says it again', destructive: false, idempotent: true } }, schema: { body: Type.Object({}, { additionalProperties: false }) } }))
  const tool = (await listTools(app, keys.full)).find(({ name }) => name === 'say')
  t.match(tool, {
    description: 'Says it again',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true }
  })
  t.match(await callTool(app, keys.full, 'say'), { structuredContent: { data: { query: {} } } })
})

t.test('host operations that change data are destructive unless their config differs', async (t) => {
  const app = await build(t, echo({ method: 'POST', schema: { operationId: 'posted' } }, { method: 'POST', url: '/named', config: { mcp: { name: 'named' } }, schema: { operationId: undefined } }, { method: 'PUT', schema: { operationId: 'putIt' } }, { method: 'POST', url: '/search', config: { mcp: { readOnly: true } }, schema: { operationId: 'search' } }))
  const tools = await listTools(app, keys.full)
  const keyed = tools.filter(({ inputSchema }) => 'idempotency_key' in inputSchema.properties).map(({ name }) => name)
  t.strictSame(keyed.filter((name) => /posted|named|put_it|search/.test(name)), ['put_it'], 'others cannot promise it')
  t.match(tools.find(({ name }) => name === 'posted')?.annotations, { destructiveHint: true, idempotentHint: false })
  t.strictSame(await callTool(app, keys.full, 'posted', { more: 1 }), { isError: true, content: [{ type: 'text', text: 'Unknown argument. This tool takes none.' }] })
  t.match(tools.find(({ name }) => name === 'search')?.annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true })
  t.match(tools.find(({ name }) => name === 'put_it')?.annotations, { destructiveHint: true, idempotentHint: true })
})

t.test('a route that returns secrets to portal sessions returns none to agents', async (t) => {
  const app = await build(t, echo({ config: { capabilities: ['secrets'] } }))
  t.notOk((await listTools(app, keys.full)).some(({ name }) => name === 'echo_input'))
  t.match(await callTool(app, keys.full, 'echo_input'), { isError: true })
})

t.test('parameters and body fields are arguments, and any other body is one argument', async (t) => {
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

t.test('a response that is not an object is only returned as text', async (t) => {
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

t.test('result schemas accept guarded texts', async (t) => {
  const schema = { response: { 200: Type.Object({ data: Type.Object({ format: Type.String({ format: 'uri', pattern: '^h', maxLength: 9, examples: ['h'] }), const: Type.Literal('a') }) }) } }
  const app = await build(t, echo({ schema, answer: { data: { format: 'http://a', const: 'a' } } }))
  const tool = (await listTools(app, keys.full)).find(({ name }) => name === 'echo_input')
  t.strictSame(tool?.outputSchema, {
    type: 'object',
    properties: { data: { type: 'object', properties: { format: { type: 'string' }, const: { type: 'string' } } } }
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
