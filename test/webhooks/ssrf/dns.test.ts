import { isIPv4 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { hostileAddresses } from '../../fixtures/hostile/hostile-addresses.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi } from '../../fixtures/api/webhook-api.js'
import { replaceLookup, replaceNameServers } from '../../fixtures/receivers/system-lookup.js'

t.test('a name that points to a non-public address is blocked without a connection', async (t) => {
  const receiver = await startReceiver(t)
  const dns = await startDnsServer(t)
  const sender = await startSender(t, { dns, allowNetworks: [] })
  const connects = countConnects(t)
  const addresses = hostileAddresses()
  const passed: unknown[] = []
  t.ok(addresses.length >= 700, `${addresses.length} addresses`)

  async function attack (address: string, index: number): Promise<void> {
    const name = `n${index}.hostile.example`
    dns.set(name, isIPv4(address) ? { a: [address] } : { aaaa: [address] })
    const { responseStatus, error } = await sender.post(`http://${name}:${receiver.port}/`)
    if (responseStatus !== null || error !== 'blocked') passed.push({ address, responseStatus, error })
  }
  for (let start = 0; start < addresses.length; start += 50) {
    await Promise.all(addresses.slice(start, start + 50).map((address, index) => attack(address, start + index)))
  }

  t.same(passed, [])
  t.equal(dns.questions.length, addresses.length * 2, 'every name was looked up once')
  t.equal(connects.count, 0)
  t.same(receiver.requests, [])
})

t.test('one bad address blocks a name, in any position', async (t) => {
  const { port, requests } = await startReceiver(t)
  const dns = await startDnsServer(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'] })
  const connects = countConnects(t)
  const zones = [
    { a: ['10.0.0.1', '127.0.0.1'] },
    { a: ['127.0.0.1', '10.0.0.1'] },
    { a: ['127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.1'] },
    { a: ['127.0.0.1'], aaaa: ['::1'] },
    { a: ['127.0.0.1'], aaaa: ['fe80::1'] },
    { a: ['127.0.0.1'], aaaa: ['::ffff:127.0.0.1', '::ffff:10.0.0.1'] },
    { a: ['169.254.169.254'], aaaa: ['2606:4700:4700::1111'] },
    { a: ['127.0.0.1'], aaaa: ['64:ff9b::7f00:1'] }
  ]
  for (const [index, zone] of zones.entries()) {
    dns.set(`mixed${index}.example`, zone)
    t.same(outcomeOf(await sender.post(`http://mixed${index}.example:${port}/`)), blocked, JSON.stringify(zone))
  }
  t.equal(connects.count, 0)
  t.same(requests, [])
})

t.test('if all addresses are allowed, the next one is tried after a refused connection', async (t) => {
  const { port, requests } = await startReceiver(t)
  const dns = await startDnsServer(t)
  const sender = await startSender(t, { dns })
  dns.set('several.example', { a: ['127.0.0.9', '127.0.0.1'], aaaa: ['::1'] })
  t.same(outcomeOf(await sender.post(`http://several.example:${port}/`)), delivered)
  t.equal(requests.length, 1)
})

t.test('a connection to an address that was not in the answer is blocked before a byte is sent', async (t) => {
  const { port, requests } = await startReceiver(t)
  const sender = await startSender(t, { allowNetworks: ['0.0.0.0/32', '::/128'] })
  // The system resolves these to the loopback.
  for (const host of ['0.0.0.0', '[::]']) {
    const { error } = await sender.post(`http://${host}:${port}/`)
    t.notSame(error, null, host)
  }
  t.same(outcomeOf(await sender.post(`http://0.0.0.0:${port}/`)), blocked)
  t.same(requests, [])
})

const hostile = [
  { a: ['127.0.0.1'] }, { a: ['169.254.169.254'] }, { aaaa: ['::1'] }, { a: ['10.0.0.1'], aaaa: ['2606:4700:4700::1111'] }
]

t.test('a name is looked up when something is sent, not when the webhook is written', async (t) => {
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

t.test('a name is not resolved again between the lookup and the connection', async (t) => {
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

t.test(
  'changed name servers of the system are used without a restart, those that the host set stay',
  async (t) => {
    const { port, answer } = await startReceiver(t)
    answer({ status: 204, headers: { connection: 'close' } })
    const [first, second, own] = [await startDnsServer(t), await startDnsServer(t), await startDnsServer(t)]
    for (const dns of [first, second, own]) dns.set('moved.example', { a: ['127.0.0.1'] })
    const system = replaceNameServers(t, [first.address])
    const senders = [await startSender(t, { dns: first }), await startSender(t, { dns: own })]
    for (const { address } of [first, second]) {
      system.set([address])
      for (const { post } of senders) t.same(outcomeOf(await post(`http://moved.example:${port}/`)), delivered)
    }
    t.same(
      [first, second, own].map(({ questions }) => questions.length),
      [2, 2, 4]
    )
  }
)

t.test('a new connection is guarded like the first, even if it replaces a stale one', async (t) => {
  const dns = await startDnsServer(t)
  const { port, requests, answer } = await startReceiver(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'] })
  const connects = countConnects(t)
  const url = `http://turning.example:${port}/`
  dns.set('turning.example', { a: ['127.0.0.1'] })
  t.same(outcomeOf(await sender.post(url)), delivered)
  // A connection can be reused from the next turn of the event loop.
  await sleep(10)

  dns.set('turning.example', { a: ['127.0.0.2'] })
  t.same(outcomeOf(await sender.post(url)), delivered, 'the open connection goes to the allowed address')
  t.equal(connects.count, 1)
  await sleep(10)

  answer((response) => response.destroy())
  t.same(outcomeOf(await sender.post(url)), blocked)
  t.equal(connects.count, 1)
  t.equal(requests.length, 3)
})

const failed = { responseStatus: null, error: 'connection' } as const

t.test('a name in the hosts file is found if a network is allowed', async (t) => {
  const { port, requests } = await startReceiver(t)
  const sender = await startSender(t, { dns: await startDnsServer(t) })
  const results = await Promise.all(Array.from({ length: 30 }, () => sender.post(`http://localhost:${port}/`)))
  t.same(results.map(outcomeOf), results.map(() => delivered))
  t.equal(requests.length, 30)
})

t.test('names of one tenant that the system does not answer do not delay those of another', async (t) => {
  const { port } = await startReceiver(t)
  const asked = replaceLookup(t, async () => asked.at(-1) === 'healthy.example'
    ? [{ address: '127.0.0.1', family: 4 }]
    : new Promise(() => {}))
  const sender = await startSender(t, { dns: await startDnsServer(t), timeoutMs: 600_000 })
  const hanging = Array.from({ length: 10 }, (_, index) => sender.post(`http://hangs${index}.example/`, { tenantId: 'acme' }))
  for (let count = 0; count < 3; count++) {
    t.same(outcomeOf(await sender.post(`http://healthy.example:${port}/`, { tenantId: 'globex' })), delivered)
    await sleep(10)
  }
  t.equal(asked.filter((name) => name.startsWith('hangs')).length, 1)
  sender.abort()
  await Promise.all(hanging)
})

t.test('without allowed networks, the system is not asked for a public name that its name servers cannot resolve', async (t) => {
  const asked = replaceLookup(t, async () => [])
  const sender = await startSender(t, { dns: await startDnsServer(t), allowNetworks: [] })
  t.same(outcomeOf(await sender.post('http://unknown.example/')), failed)
  t.same(asked, [])
})

t.test('the system is asked if there is no name server', async (t) => {
  const asked = replaceLookup(t, async () => [{ address: '10.0.0.1', family: 4 }])
  const gone = await startGoneDnsServer()
  const sender = await startSender(t, { dns: gone, allowNetworks: [] })
  t.same(outcomeOf(await sender.post('http://known.example/')), blocked)
  t.same(asked, ['known.example'])
})

/** A port on which no name server listens any more. */
async function startGoneDnsServer () {
  const closers: Array<() => Promise<unknown>> = []
  const server = await startDnsServer({ teardown: (close) => closers.push(close) })
  for (const close of closers) await close()
  return server
}
