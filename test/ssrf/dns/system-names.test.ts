import t from 'tap'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { replaceLookup } from '../../fixtures/receivers/system-lookup.js'
import { blocked, delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { until } from '../../fixtures/stopwatch.js'

const failed = { responseStatus: null, error: 'connection' } as const

t.test('a name that only the hosts file knows is found where a network is open', async (t) => {
  const { port, requests } = await startReceiver(t)
  const sender = await startSender(t, { dns: await startDnsServer(t) })
  const results = await Promise.all(Array.from({ length: 30 }, () => sender.post(`http://localhost:${port}/`)))
  t.same(results.map(outcomeOf), results.map(() => delivered))
  t.equal(requests.length, 30)
})

t.test('addresses from the system are checked like those from a name server', async (t) => {
  const { port, requests } = await startReceiver(t)
  const sender = await startSender(t, { dns: await startDnsServer(t), allowNetworks: ['10.0.0.0/8'] })
  t.same(outcomeOf(await sender.post(`http://localhost:${port}/`)), blocked)
  t.same(requests, [])
})

t.test('without open networks, the system is not asked for a public name that no name server knows', async (t) => {
  const asked = replaceLookup(t, async () => [])
  const sender = await startSender(t, { dns: await startDnsServer(t), allowNetworks: [] })
  t.same(outcomeOf(await sender.post('http://unknown.example/')), failed)
  t.same(asked, [])
})

t.test('the system is asked where there is no name server at all', async (t) => {
  const asked = replaceLookup(t, async () => [{ address: '10.0.0.1', family: 4 }])
  const gone = await startGoneDnsServer()
  const sender = await startSender(t, { dns: gone, allowNetworks: [] })
  t.same(outcomeOf(await sender.post('http://known.example/')), blocked)
  t.same(asked, ['known.example'])
})

t.test('names that the system is silent about hold two threads at most, and nobody beyond the deadline', async (t) => {
  const asked = replaceLookup(t, () => new Promise(() => {}))
  const sender = await startSender(t, { dns: await startDnsServer(t), timeoutMs: 1800 })
  const results = await Promise.all(Array.from({ length: 10 }, (_, index) => sender.post(`http://silent${index}.example/`)))
  t.same(results.map(outcomeOf), results.map(() => ({ responseStatus: null, error: 'timeout' })))
  t.equal(asked.length, 2)
})

t.test('a thread that is free again goes to the next in the line, but not to one who has given up', async (t) => {
  const answers: Array<() => void> = []
  const asked = replaceLookup(t, () => new Promise((resolve) => {
    answers.push(() => resolve([{ address: '10.0.0.1', family: 4 }]))
  }))
  const sender = await startSender(t, { dns: await startDnsServer(t), timeoutMs: 1800 })
  const startedAt = performance.now()
  const early = ['one', 'two', 'three'].map((name) => sender.post(`http://${name}.example/`))
  t.same((await Promise.all(early)).map(({ error }) => error), ['timeout', 'timeout', 'timeout'])
  // A deadline may end earlier, by the work of the turn in which it began: then the third still waits.
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

t.test('closing the sender ends lookups that wait for the system', async (t) => {
  replaceLookup(t, () => new Promise(() => {}))
  const sender = await startSender(t, { dns: await startDnsServer(t), timeoutMs: 10_000 })
  const sends = ['one', 'two', 'three', 'four'].map((name) => sender.post(`http://${name}.example/`))
  await new Promise((resolve) => setTimeout(resolve, 100))
  sender.abort()
  await sender.close()
  t.same((await Promise.all(sends)).map(({ error }) => error), ['aborted', 'aborted', 'aborted', 'aborted'])
})

/** A port at which no name server is any more. */
async function startGoneDnsServer () {
  const closers: Array<() => Promise<unknown>> = []
  const server = await startDnsServer({ teardown: (close) => closers.push(close) })
  for (const close of closers) await close()
  return server
}
