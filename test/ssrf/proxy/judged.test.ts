import t from 'tap'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { hostileAddresses } from '../../fixtures/hostile/hostile-addresses.js'
import { countConnects } from '../../fixtures/hostile/hostile-connections.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('a blocked address never reaches the proxy, as a literal or behind a name', async (t) => {
  const dns = await startDnsServer(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, allowNetworks: [] })
  const connects = countConnects(t)
  const passed: unknown[] = []
  for (const [index, address] of hostileAddresses().entries()) {
    const isIpv6 = address.includes(':')
    dns.set(`n${index}.example`, isIpv6 ? { aaaa: [address] } : { a: [address] })
    for (const host of [`n${index}.example`, isIpv6 ? `[${address}]` : address]) {
      const { error } = await sender.post(`https://${host}/`)
      if (error !== 'blocked') passed.push(host)
    }
  }
  dns.set('mixed.example', { a: ['93.184.215.14', '10.0.0.1'] })
  dns.set('family.example', { a: ['93.184.215.14'], aaaa: ['::1'] })
  for (const name of ['mixed.example', 'family.example']) t.same(outcomeOf(await sender.post(`https://${name}/`)), blocked)
  t.same(passed, [])
  t.equal(connects.count, 0)
  t.same(proxy.heads, [])
})

t.test('the address of the proxy is the host\'s choice, and no receiver has it', async (t) => {
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { proxy: proxy.url, allowNetworks: [] })
  proxy.route(() => 403)
  t.same(outcomeOf(await sender.post(`${proxy.url}/`)), blocked)
  t.equal((await sender.post('http://93.184.215.14/')).error, 'connection')
  t.same(proxy.targets, ['93.184.215.14:80'])
})

t.test('a name that changes after it was checked is not looked up again', async (t) => {
  const dns = await startDnsServer(t)
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, allowNetworks: ['127.0.0.1/32'] })
  const asked: string[] = []
  dns.set('flapping.example', (question) => {
    const isFirst = !asked.includes(question)
    asked.push(question)
    return question === 'AAAA' ? {} : { a: [isFirst ? '127.0.0.1' : '10.0.0.1'] }
  })
  t.same(outcomeOf(await sender.post(`http://flapping.example:${receiver.port}/`)), delivered)
  t.same(asked.sort(), ['A', 'AAAA'])
  t.same(proxy.targets, [`127.0.0.1:${receiver.port}`])
  proxy.cut()
  t.same(outcomeOf(await sender.post(`http://flapping.example:${receiver.port}/`)), blocked)
  t.equal(proxy.targets.length, 1)
})

t.test('an address that the proxy cannot connect to gives way to the next, up to eight', async (t) => {
  const dns = await startDnsServer(t)
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url })
  const { port } = receiver
  dns.set('several.example', { a: ['127.0.0.8', '127.0.0.9', '127.0.0.1'], aaaa: ['::1'] })
  t.same(outcomeOf(await sender.post(`http://several.example:${port}/`)), delivered)
  t.same([...proxy.targets].sort(), [`127.0.0.1:${port}`, `127.0.0.8:${port}`, `127.0.0.9:${port}`])

  dns.set('many.example', { a: Array.from({ length: 20 }, (_, index) => `127.0.1.${index}`) })
  t.equal((await sender.post(`http://many.example:${port}/`)).error, 'connection')
  t.equal(proxy.targets.length, 3 + 8)
})

t.test('an address that the proxy is silent about gives way to the next', async (t) => {
  const dns = await startDnsServer(t)
  const { port } = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const sender = await startSender(t, { dns, proxy: proxy.url, timeoutMs: 2000 })
  proxy.route((target) => target.startsWith('127.0.0.9:') ? 'silence' : { host: '127.0.0.1', port })
  dns.set('several.example', { a: ['127.0.0.9'], aaaa: ['::1'] })
  t.same(outcomeOf(await sender.post(`http://several.example:${port}/`)), delivered)
  t.same(proxy.targets, [`127.0.0.9:${port}`, `[::1]:${port}`])
})
