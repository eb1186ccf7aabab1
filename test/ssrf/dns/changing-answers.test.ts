import t from 'tap'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi } from '../../fixtures/api/webhook-api.js'

const hostile = [
  { a: ['127.0.0.1'] }, { a: ['169.254.169.254'] }, { aaaa: ['::1'] }, { a: ['10.0.0.1'], aaaa: ['2606:4700:4700::1111'] }
]

t.test('a name is looked up when something is sent and not when the webhook is written', async (t) => {
  const dns = await startDnsServer(t)
  const { port, requests } = await startReceiver(t)
  const { call, create } = await dns.serve(() => buildWebhookApi(t, { delivery: { allowHttp: true } }))
  dns.set('rebinding.example', { a: ['93.184.215.14'] })
  const { id } = await create({ target_url: `http://rebinding.example:${port}/` })
  await call('PATCH', `/webhooks/${id}`, { target_url: `http://rebinding.example:${port}/hooks` })
  t.same(dns.questions, [])

  const connects = countConnects(t)
  for (const zone of hostile) {
    dns.set('rebinding.example', zone)
    const { body } = await call<{ data: { error: string } }>('POST', `/webhooks/${id}/dispatch_test`)
    t.equal(body.data.error, 'blocked', JSON.stringify(zone))
  }
  t.equal(dns.questions.length, hostile.length * 2)
  t.equal(connects.count, 0)
  t.same(requests, [])
})

t.test('a name that changes between the lookup and the connection is not looked up again', async (t) => {
  const dns = await startDnsServer(t)
  const { port, requests } = await startReceiver(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'] })
  const asked: string[] = []
  dns.set('flapping.example', (question) => {
    const isFirst = !asked.includes(question)
    asked.push(question)
    if (question === 'AAAA') return {}
    return { a: [isFirst ? '127.0.0.1' : '127.0.0.2'] }
  })
  t.same(outcomeOf(await sender.post(`http://flapping.example:${port}/`)), delivered)
  t.same(asked.sort(), ['A', 'AAAA'])
  t.equal(requests.length, 1)
})

t.test('a new connection is guarded like the first, even that which replaces a stale one', async (t) => {
  const dns = await startDnsServer(t)
  const { port, requests, answer } = await startReceiver(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'] })
  const connects = countConnects(t)
  const url = `http://turning.example:${port}/`
  dns.set('turning.example', { a: ['127.0.0.1'] })
  t.same(outcomeOf(await sender.post(url)), delivered)
  // A connection is kept from the next turn of the event loop on.
  await sleep(10)

  dns.set('turning.example', { a: ['127.0.0.2'] })
  t.same(outcomeOf(await sender.post(url)), delivered, 'the connection that is kept goes to the address that was allowed')
  t.equal(connects.count, 1)
  await sleep(10)

  answer((response) => response.destroy())
  t.same(outcomeOf(await sender.post(url)), blocked)
  t.equal(connects.count, 1)
  t.equal(requests.length, 3)
})

t.test('a name is checked again after its connection is closed', async (t) => {
  const dns = await startDnsServer(t)
  const { port, requests, answer } = await startReceiver(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'] })
  const url = `http://closing.example:${port}/`
  let closed: Promise<unknown> = Promise.resolve()
  answer((response) => {
    closed = once(response, 'close')
    response.writeHead(204, { connection: 'close' }).end()
  })
  for (const [address, outcome] of [['127.0.0.1', delivered], ['127.0.0.2', blocked], ['127.0.0.1', delivered]] as const) {
    dns.set('closing.example', { a: [address] })
    t.same(outcomeOf(await sender.post(url)), outcome, address)
    await closed
  }
  t.equal(requests.length, 2)
})
