import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp, keys } from '../fixtures/api/app.js'
import { listTools, sendMessage } from '../fixtures/api/mcp.js'

t.test('the jobs of the tenant are resources, in pages', async (t) => {
  const jobs = Array.from({ length: 101 }, (_, index) => ({ id: index + 1, name: `Job ${index + 1}`, status: 'published' }))
  const app = await buildApp(t, { mcp: true, storage: memoryStorage({ tenants: { acme: { jobs } } }) })
  const first = (await sendMessage(app, keys.full, 'resources/list')).json().result
  t.equal(first.resources.length, 100)
  t.strictSame(first.resources[0], { uri: 'recruiting://acme/jobs/1', name: 'job 1', title: 'Job 1', description: 'published', mimeType: 'application/json' })
  const second = (await sendMessage(app, keys.full, 'resources/list', { cursor: first.nextCursor })).json().result
  t.match(second, { resources: [{ name: 'job 101' }] })
  t.notOk('nextCursor' in second)
  const { result } = (await sendMessage(app, keys.full, 'resources/templates/list')).json()
  t.strictSame(result.resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate), ['recruiting://acme/jobs/{id}'])
  const read = (await sendMessage(app, keys.full, 'resources/read', { uri: 'recruiting://acme/jobs/101' })).json().result
  t.strictSame(read, { contents: [{ uri: 'recruiting://acme/jobs/101', mimeType: 'application/json', text: '{"id":101,"name":"Job 101","status":"published"}' }] })
})

t.test('other resources and cursors are errors of the protocol', async (t) => {
  const app = await buildApp(t, { mcp: true })
  for (const uri of ['recruiting://acme/jobs/', 'recruiting://acme/jobs/..', 'recruiting://acme/jobs/1/2', 'recruiting://acme/jobs/1?page=2', 'recruiting://globex/jobs/1', 'recruiting://acme/candidates/1', 'file:///etc/passwd', '', 'recruiting://acme/jobs/99', 'recruiting://acme/jobs/x']) {
    t.match((await sendMessage(app, keys.full, 'resources/read', { uri })).json(), { error: { code: -32602 } }, uri)
  }
  for (const cursor of ['0', 'x', '1.5', '-1', '9999999999']) {
    t.match((await sendMessage(app, keys.full, 'resources/list', { cursor })).json(), { error: { code: -32602, message: 'Unknown cursor' } }, cursor)
  }
})

t.test('a failure of the storage is an error of the protocol, without its cause', async (t) => {
  const storage = memoryStorage({ tenants: {} })
  storage.jobs.list = async () => { throw new Error('the password is 1234') }
  const app = await buildApp(t, { mcp: true, storage, requestId: () => 'req_1' })
  const answer = await sendMessage(app, keys.full, 'resources/list')
  t.strictSame(answer.json().error, { code: -32603, message: 'internal_error: Unexpected server error. The request id is req_1.' })
})

t.test('a key without the scope sees no resources', async (t) => {
  const app = await buildApp(t, { mcp: true })
  t.strictSame((await sendMessage(app, keys.candidatesRead, 'resources/list')).json().result, { resources: [] })
  t.strictSame((await sendMessage(app, keys.candidatesRead, 'resources/templates/list')).json().result, { resourceTemplates: [] })
  t.equal((await sendMessage(app, keys.candidatesRead, 'resources/read', { uri: 'recruiting://acme/jobs/1' })).statusCode, 403)
})

t.test('prompts name only tools that the caller has, and a time', async (t) => {
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
