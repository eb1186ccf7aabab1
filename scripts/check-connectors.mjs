// Checks examples/zapier and examples/n8n with the packages of both platforms, against the package in a folder:
//
//   node scripts/check-connectors.mjs FOLDER

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const folder = resolve(process.argv[2])
const require = createRequire(join(folder, 'check.cjs'))
const { default: Fastify } = await import(require.resolve('fastify'))
const { default: recruitingApi } = require('fastify-recruiting-api')
const { memoryKeyLookup, memoryStorage } = require('fastify-recruiting-api/memory')
const examples = join(require.resolve('fastify-recruiting-api/package.json'), '../examples')

const app = Fastify()
await app.register(recruitingApi, {
  storage: memoryStorage(),
  keyLookup: memoryKeyLookup([{ key: 'acme-key', tenantSlug: 'acme', scopes: ['webhooks:read', 'webhooks:write'] }]),
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})
const origin = await app.listen({ port: 0, host: '127.0.0.1' })
const url = `${origin}/api/v1/public/acme`
const document = await (await fetch(`${origin}/api/v1/public/openapi.json`)).json()
const count = async () => (await app.recruiting.webhooks.list('acme')).meta.total

const received = []
const receiver = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  received.push({ headers: request.headers, rawBody: Buffer.concat(chunks) })
  response.end()
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const targetUrl = `http://127.0.0.1:${receiver.address().port}/`
async function emit () {
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.hired', data: { id: 1 } })
  await app.recruiting.drain()
  return received.splice(0)
}

const { validateAppDefinition } = require('zapier-platform-schema')
const { createAppTester, tools } = require('zapier-platform-core')
const { createApp } = require(join(examples, 'zapier/app.js'))
const zapier = createApp(document)
// Zapier validates the app with a text for each function.
const described = JSON.parse(JSON.stringify(zapier, (_, value) => typeof value === 'function' ? '$func$2$f$' : value))
assert.deepEqual(validateAppDefinition(described).errors.map(({ stack }) => stack), [])
assert.equal(Object.keys(zapier.triggers).length, Object.keys(document.webhooks).length)
tools.env.inject()
const test = createAppTester(zapier)
const authData = { url, key: 'acme-key' }
assert.equal(typeof await test(zapier.authentication.test, { authData }), 'object')
await assert.rejects(test(zapier.authentication.test, { authData: { url, key: 'wrong' } }), /API key/i)
const { operation } = zapier.triggers.application_hired
const subscribeData = await test(operation.performSubscribe, { authData, targetUrl })
assert.equal(await count(), 1)
const [hired] = await emit()
const [event] = await test(operation.perform, { cleanedRequest: JSON.parse(hired.rawBody) })
assert.deepEqual([event.type, event.data], ['application.hired', { id: 1 }])
const [listed] = await test(operation.performList, { authData })
assert.equal(listed.type, 'application.hired')
for (let times = 0; times < 2; times++) await test(operation.performUnsubscribe, { authData, subscribeData })
assert.equal(await count(), 0)

const { NodeHelpers } = require('n8n-workflow')
const { createNode } = require(join(examples, 'n8n/RecruitingTrigger.node.js'))
const { RecruitingApi } = require(join(examples, 'n8n/RecruitingApi.credentials.js'))
const node = new (createNode(document))()
const eventTypes = ['application.hired']
const stored = { name: 'n', type: 'recruitingTrigger', typeVersion: 1, parameters: { eventTypes }, position: [0, 0], id: '1' }
const { properties } = node.description
assert.equal(NodeHelpers.getNodeParametersIssues(properties, stored, node.description), null)
const unset = { ...stored, parameters: { eventTypes: [] } }
assert.notEqual(NodeHelpers.getNodeParametersIssues(properties, unset, node.description), null)
assert.equal(new RecruitingApi().name, node.description.credentials[0].name)
const staticData = {}
let request
const statuses = []
const context = {
  getWorkflowStaticData: () => staticData,
  getWorkflow: () => ({ name: 'Hires' }),
  getNodeWebhookUrl: () => targetUrl,
  getNodeParameter: (name) =>
    NodeHelpers.getNodeParameters(properties, stored.parameters, true, false, stored, node.description)[name],
  getCredentials: async () => authData,
  getRequestObject: () => request,
  getHeaderData: () => request.headers,
  getBodyData: () => JSON.parse(request.rawBody),
  getResponseObject: () => ({ status (code) { statuses.push(code); return this }, end () {} }),
  helpers: {
    returnJsonArray: (items) => items.map((json) => ({ json })),
    async httpRequestWithAuthentication (_name, { method, url, body }) {
      const headers = { authorization: 'Bearer acme-key', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(url, { method, headers, ...sent })
      if (!answer.ok) throw Object.assign(new Error(await answer.text()), { httpCode: String(answer.status) })
      return answer.status === 204 ? null : await answer.json()
    }
  }
}
const { checkExists, create, delete: remove } = node.webhookMethods.default
assert.equal(await checkExists.call(context), false)
await create.call(context)
assert.equal(await checkExists.call(context), true)
;[request] = await emit()
assert.equal((await node.webhook.call(context)).workflowData[0][0].json.type, 'application.hired')
request = { ...request, rawBody: Buffer.concat([request.rawBody, Buffer.from(' ')]) }
assert.deepEqual([await node.webhook.call(context), statuses], [{ noWebhookResponse: true }, [401]])
await remove.call(context)
assert.deepEqual([await count(), await checkExists.call(context), staticData], [0, false, {}])

receiver.close()
await app.close()
console.log('the connectors for Zapier and n8n work')
