import fc from 'fast-check'
import t from 'tap'
import { createAddressRule } from '../../../src/core/webhooks/ssrf/addresses.js'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { formatAddress, isPublic } from '../../fixtures/hostile/hostile-addresses.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { replaceLookup } from '../../fixtures/receivers/system-lookup.js'
import { until } from '../../fixtures/stopwatch.js'

const isAllowed = createAddressRule([])

function agrees (family: 4 | 6, first: bigint, last: bigint): void {
  fc.assert(fc.property(fc.bigInt(first, last), (number) => {
    const address = formatAddress(number, family)
    return isAllowed(address) === isPublic(address)
  }), { numRuns: 5000 })
}

t.test('any IPv4 address is allowed if and only if it is public', async () => {
  agrees(4, 0n, (1n << 32n) - 1n)
  agrees(4, 192n << 24n, (199n << 24n) - 1n)
})

t.test('any IPv6 address is allowed if and only if it is public', async () => {
  agrees(6, 0n, (1n << 128n) - 1n)
  agrees(6, 0x2001n << 112n, (0x2003n << 112n) - 1n)
  agrees(6, 0x3fffn << 112n, (0x4000n << 112n) - 1n)
  agrees(6, 0n, (1n << 48n) - 1n)
})

t.test('a lost response for one address family does not delay the connection, and the other one is still checked', async (t) => {
  const dns = await startDnsServer(t)
  const { port } = await startReceiver(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'], timeoutMs: 30_000 })
  dns.set('lost-aaaa.example', { a: ['127.0.0.1'], silent: 'aaaa' })
  dns.set('lost-a.example', { aaaa: ['::1'], silent: 'a' })
  const results = await Promise.all(
    ['lost-aaaa', 'lost-a'].map((name) => sender.post(`http://${name}.example:${port}/`))
  )
  t.same(results.map(outcomeOf), [delivered, blocked])
  // The lost query itself takes more than 5 s.
  for (const { ranMs } of results) t.ok(ranMs < 5000, `${ranMs} ms`)
})

t.test('names without an answer from the system block one thread for each tenant, at most two, and no attempt beyond its deadline', async (t) => {
  const asked = replaceLookup(t, () => new Promise(() => {}))
  const sender = await startSender(t, { dns: await startDnsServer(t), timeoutMs: 1800 })
  const results = await Promise.all(['acme', 'globex', 'hooli'].flatMap((tenantId) => (
    [1, 2, 3].map((index) => sender.post(`http://${tenantId}${index}.example/`, { tenantId }))
  )))
  t.same(results.map(outcomeOf), results.map(() => ({ responseStatus: null, error: 'timeout' })))
  t.same(asked.map((name) => name.replace(/\d.*/, '')).sort(), ['acme', 'globex'])
})

t.test('a free thread goes to the next waiting attempt, but never to a timed-out one', async (t) => {
  const answers: Array<() => void> = []
  const asked = replaceLookup(t, () => new Promise((resolve) => {
    answers.push(() => resolve([{ address: '10.0.0.1', family: 4 }]))
  }))
  const sender = await startSender(t, { dns: await startDnsServer(t), timeoutMs: 1800 })
  const startedAt = performance.now()
  const early = ['one', 'two', 'three'].map((name) => sender.post(`http://${name}.example/`, { tenantId: name }))
  for (const { error } of await Promise.all(early)) t.not(error, null)
  // A deadline can end a little early, so that the third attempt still waits.
  await new Promise((resolve) => setTimeout(resolve, 2000 - (performance.now() - startedAt)))

  const late = sender.post('http://four.example/')
  await new Promise((resolve) => setTimeout(resolve, 100))
  answers.shift()?.()
  await until(() => asked.length === 3)
  answers.at(-1)?.()
  t.same(outcomeOf(await late), blocked)
  t.same([...asked.slice(0, 2)].sort(), ['one.example', 'two.example'])
  t.equal(asked[2], 'four.example')
})
