import { createRequire } from 'node:module'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { type ImportWebhookInput, createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { type Teardown } from '../../fixtures/api/app.js'
import { toLoopback } from '../../fixtures/api/webhook-api.js'
import { findTool } from '../../fixtures/programs.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const tools = createRequire(new URL('../../../.ci/package.json', import.meta.url))
const load = async (name: string) => await import(pathToFileURL(tools.resolve(name)).href)
const until = new Date(Date.now() + 86_400_000).toISOString()

/** Sends an event to an imported webhook. Returns the request. */
async function receive (t: Teardown, input: Partial<ImportWebhookInput>) {
  const receiver = await startReceiver(t)
  const recruiting = createRecruiting({ storage: memoryStorage(), delivery: toLoopback })
  t.teardown(() => recruiting.close())
  await recruiting.webhooks.import('acme', { name: 'CRM', target_url: receiver.url, event_types: ['application.created'], ...input })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { name: 'Zoë 🎉' } })
  await recruiting.drain()
  const [{ body = '', headers = {} } = {}] = receiver.requests
  return { body, headers: headers as Record<string, string> }
}

t.test("GitHub's library verifies notifications", { skip: findTool('@octokit/webhooks-methods') }, async (t) => {
  const secret = "It's a Secret to Everybody"
  const { body, headers } = await receive(t, { legacy: { header: 'X-Hub-Signature-256', template: 'sha256={signature}', secret, until } })
  const { verify } = await import(new URL('../../../.ci/node_modules/@octokit/webhooks-methods/dist-node/index.js', import.meta.url).href)
  t.equal(await verify(secret, body, headers['x-hub-signature-256']), true)
  t.equal(await verify('another', body, headers['x-hub-signature-256']), false)
})

t.test("Stripe's library verifies notifications", { skip: findTool('stripe') }, async (t) => {
  const secret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
  const { body, headers } = await receive(t, {
    secret, legacy: { header: 'Stripe-Signature', template: 't={timestamp},v1={signature}', content: '{timestamp}.{body}', until }
  })
  const { default: Stripe } = await load('stripe')
  const { webhooks } = new Stripe('sk_test_1')
  t.match(webhooks.constructEvent(body, headers['stripe-signature'], secret), { type: 'application.created' })
  t.throws(() => webhooks.constructEvent(`${body} `, headers['stripe-signature'], secret), { message: /signature/ })
})

t.test("Shopify's library verifies notifications", { skip: findTool('@shopify/shopify-api') }, async (t) => {
  const secret = 'shpss_0123456789abcdef0123456789abcdef'
  const { body, headers } = await receive(t, {
    headers: { 'X-Shopify-Topic': 'orders/create', 'X-Shopify-Shop-Domain': 'acme.myshopify.com', 'X-Shopify-API-Version': '2026-01' },
    legacy: { header: 'X-Shopify-Hmac-Sha256', encoding: 'base64', id_header: 'X-Shopify-Webhook-Id', secret, until }
  })
  await load('@shopify/shopify-api/adapters/node')
  const { shopifyApi, ApiVersion } = await load('@shopify/shopify-api')
  const apiVersion = Object.values(ApiVersion).at(-1)
  const config = { apiKey: 'key', apiSecretKey: secret, hostName: 'localhost', apiVersion, isEmbeddedApp: false, logger: { log () {} } }
  const rawRequest = new IncomingMessage(new Socket())
  Object.assign(rawRequest, { url: '/', method: 'POST', headers })
  const call = { rawBody: body, rawRequest, rawResponse: new ServerResponse(rawRequest) }
  t.match(await shopifyApi(config).webhooks.validate(call), { valid: true, topic: 'ORDERS_CREATE' })
  t.match(await shopifyApi({ ...config, apiSecretKey: 'another' }).webhooks.validate(call), { valid: false, reason: 'invalid_hmac' })
})
