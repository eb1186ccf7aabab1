import t from 'tap'
import { countConnects } from '../fixtures/hostile/hostile-connections.js'
import { hostileAddresses, toUrlHost } from '../fixtures/hostile/hostile-addresses.js'
import { blocked, outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { buildWebhookApi, refusal, webhookInput } from '../fixtures/api/webhook-api.js'

const addresses = hostileAddresses()

t.test('there are 700 addresses that are not public', async (t) => {
  t.ok(addresses.length >= 700, `${addresses.length} addresses`)
  t.equal(new Set(addresses).size, addresses.length)
})

t.test('no webhook is created whose URL names one of them', async (t) => {
  const { call } = await buildWebhookApi(t)
  const accepted: string[] = []
  for (const address of addresses) {
    const target = `https://${toUrlHost(address)}/hooks`
    const answer = await call('POST', '/webhooks', { ...webhookInput, target_url: target })
    const expected = refusal(answer, { field: 'target_url', message: 'must point to a public host' })
    if (answer.status !== 400 || JSON.stringify(answer.body) !== JSON.stringify(expected)) accepted.push(target)
  }
  t.same(accepted, [])
  const list = await call<{ data: unknown[] }>('GET', '/webhooks')
  t.same(list.body.data, [])
})

t.test('the sender blocks them even if they are stored, and opens no connection', async (t) => {
  const { port, url, requests } = await startReceiver(t)
  const sender = await startSender(t, { allowNetworks: [] })
  const connects = countConnects(t)
  const passed: string[] = []
  for (const address of addresses) {
    for (const scheme of ['http', 'https']) {
      const target = `${scheme}://${toUrlHost(address)}:${port}/`
      const { responseStatus, error } = await sender.post(target)
      if (responseStatus !== null || error !== 'blocked') passed.push(target)
    }
  }
  t.same(passed, [])
  t.equal(connects.count, 0)
  t.same(outcomeOf(await sender.post(url)), blocked, 'even where something listens')
  t.equal(connects.count, 0)
  t.same(requests, [])
})

t.test('a connection that is made is counted', async (t) => {
  const { url, requests } = await startReceiver(t)
  const sender = await startSender(t)
  const connects = countConnects(t)
  await sender.post(url)
  await sender.post(url.replace('http:', 'https:'))
  t.equal(connects.count, 2)
  t.equal(requests.length, 1)
})
