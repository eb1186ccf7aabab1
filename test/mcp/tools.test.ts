import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp, keys } from '../fixtures/api/app.js'
import { callTool, listTools, sendMessage, textOf } from '../fixtures/api/mcp.js'
import type { OpenApi } from '../fixtures/api/document.js'

const hints = (readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean, openWorldHint = false) => ({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint })
const reading = hints(true, false, true)

const expected: Record<string, object> = {
  list_candidates: reading,
  get_candidate: reading,
  sync_candidates: reading,
  list_jobs: reading,
  get_job: reading,
  sync_jobs: reading,
  list_webhooks: reading,
  get_webhook: reading,
  update_webhook: hints(false, true, true),
  delete_webhook: hints(false, true, true),
  preview_webhook: reading,
  dispatch_webhook_test: hints(false, false, false, true),
  replay_webhook: hints(false, false, false, true),
  list_webhook_deliveries: reading,
  get_webhook_delivery: reading,
  retry_webhook_delivery: hints(false, false, false, true),
  list_event_types: reading,
  list_events: reading
}

const secret = { create_webhook: hints(false, false, false), rotate_webhook_secret: hints(false, true, false) }

t.test('every operation that returns no secret is a tool with the right hints', async (t) => {
  const app = await buildApp(t, { mcp: true })
  const tools = await listTools(app, keys.full)
  t.same(Object.fromEntries(tools.map(({ name, annotations: { title: _, ...shown } }) => [name, shown])), expected)
})

t.test('with secrets, creating and rotating are tools too', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true }, storage: memoryStorage({ tenants: { acme: {} } }) })
  const tools = await listTools(app, keys.full)
  t.match(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations])), { ...expected, ...secret })
  const result = await callTool(app, keys.full, 'create_webhook', { name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] })
  t.match(result.structuredContent, { data: { id: 1, secret: /^whsec_/ } })
})

t.test('without secrets, creating and rotating are refused, and nothing happens', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const name of Object.keys(secret)) {
    const result = await callTool(app, keys.full, name, { id: 1, name: 'CRM', target_url: 'https://example.com/', event_types: ['job.created'] })
    t.strictSame(result, { isError: true, content: [{ type: 'text', text: `${name} returns a secret, which this server never gives to agents. Ask a person to do it.` }] })
  }
  t.match((await callTool(app, keys.full, 'list_webhooks')).structuredContent, { data: [], meta: { total: 0 } })
})

t.test('names, texts and parameters are those of the document', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true } })
  const document: OpenApi = (await app.inject('/api/v1/public/openapi.json')).json()
  const operations = new Map(Object.values(document.paths).flatMap((path) => Object.values(path)).map((operation) => [operation.operationId.toLowerCase(), operation]))
  const tools = await listTools(app, keys.full)
  t.equal(tools.length, operations.size)
  for (const { name, description, inputSchema } of tools) {
    const operation = operations.get(name.replaceAll('_', ''))
    t.ok(description.startsWith(`${operation?.summary}. ${operation?.description}`), name)
    const parameters = operation?.parameters.map((parameter) => parameter.name).filter((parameter) => parameter !== 'tenant_slug') ?? []
    const given = Object.entries(inputSchema.properties).flatMap(([argument, { properties }]) => {
      return argument === 'filter' ? Object.keys(properties ?? {}).map((member) => `filter[${member}]`) : [argument]
    })
    t.strictSame(given.filter((argument) => parameters.includes(argument)).sort(), parameters.sort(), `${name} has all parameters`)
    t.equal(given.length > parameters.length, operation?.requestBody !== undefined, `${name} has fields of a body if the operation has one`)
  }
})

t.test('names of arguments are those that models can send', async (t) => {
  const app = await buildApp(t, { mcp: { secrets: true } })
  for (const { name, inputSchema } of await listTools(app, keys.full)) {
    const names = Object.entries(inputSchema.properties).flatMap(([argument, { properties = {} }]) => [argument, ...Object.keys(properties)])
    t.ok(names.every((argument) => /^[\w.-]{1,64}$/.test(argument)), name)
  }
})

t.test('an unknown tool is an error of the protocol', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const name of ['nothing', 'listCandidates', '', '__proto__', 'mcp']) {
    const answer = await sendMessage(app, keys.full, 'tools/call', { name })
    t.match(answer.json(), { error: { code: -32602, message: 'Unknown tool' } }, name)
  }
})

t.test('lists say how to go on', async (t) => {
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
