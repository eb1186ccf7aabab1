import t from 'tap'
import { isIPv4 } from 'node:net'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { hostileAddresses } from '../../fixtures/hostile/hostile-addresses.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('a name that points to an address that is not public is blocked, and no connection opened', async (t) => {
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

t.test('one bad answer among good ones refuses all, wherever it stands', async (t) => {
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

t.test('where all answers are good, an address that refuses the connection gives way to the next', async (t) => {
  const { port, requests } = await startReceiver(t)
  const dns = await startDnsServer(t)
  const sender = await startSender(t, { dns })
  dns.set('several.example', { a: ['127.0.0.9', '127.0.0.1'], aaaa: ['::1'] })
  t.same(outcomeOf(await sender.post(`http://several.example:${port}/`)), delivered)
  t.equal(requests.length, 1)
})

t.test('an address that is connected to but was not answered is blocked before a byte is sent', async (t) => {
  const { port, requests } = await startReceiver(t)
  const sender = await startSender(t, { allowNetworks: ['0.0.0.0/32', '::/128'] })
  // The system takes these for the loopback.
  for (const host of ['0.0.0.0', '[::]']) {
    const { error } = await sender.post(`http://${host}:${port}/`)
    t.notSame(error, null, host)
  }
  t.same(outcomeOf(await sender.post(`http://0.0.0.0:${port}/`)), blocked)
  t.same(requests, [])
})
