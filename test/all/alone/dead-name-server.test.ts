import { pbkdf2 } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { type DnsServer, startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { type Receiver, startReceiver } from '../../fixtures/receivers/receiver.js'
import { startStopwatch } from '../../fixtures/stopwatch.js'
import { countCalls } from '../../fixtures/hostile/hostile-connections.js'

const deadlineMs = 1500
const sends = 20

t.test('two unanswered DNS queries cause a timeout before the deadline, which leaves time to connect', async (t) => {
  const { dns, receiver } = await startDead(t)
  const sender = await startSender(t, { dns, timeoutMs: 3000 })
  const { durationMs, ranMs, ...outcome } = await sender.post(`http://dead0.example:${receiver.port}/`)
  t.same(outcome, { error: 'timeout', responseStatus: null })
  t.ok(ranMs < 2900, `after ${ranMs} ms`)
})

t.test('lookups at dead name servers neither block a thread nor delay other work', async (t) => {
  const { dns, receiver } = await startDead(t)
  const sender = await startSender(t, { dns, allowNetworks: ['127.0.0.1/32'] })
  const lookups = countCalls(t, 'GETADDRINFOREQWRAP')
  dns.set('alive.example', { a: ['127.0.0.1'] })
  const work = async (): Promise<void> => {
    await Promise.all(Array.from({ length: 4 }, () => promisify(pbkdf2)('password', 'salt', 100, 32, 'sha256')))
    await stat(new URL(import.meta.url))
    t.same(outcomeOf(await sender.post(`http://alive.example:${receiver.port}/`)), delivered)
  }
  await work()
  const usualMs = await timeOf(work)

  let pending = sends
  const dead = deadUrls(receiver).map((url) => sender.post(url, { timeoutMs: deadlineMs }).finally(() => { pending-- }))
  const concurrentMs = await timeOf(work)
  t.equal(pending, sends, 'all posts are still waiting')
  t.ok(concurrentMs < usualMs * 2 + 200, `${concurrentMs} ms with them, ${usualMs} ms alone`)
  t.same(new Set((await Promise.all(dead)).map(({ error }) => error)), new Set(['timeout']))
  t.equal(lookups.count, 0)
})

t.test('an unknown name, or a failing name server, is a connection error and blocks no thread', async (t) => {
  const dns = await startDnsServer(t)
  const { port } = await startReceiver(t)
  const sender = await startSender(t, { dns, allowNetworks: [] })
  const lookups = countCalls(t, 'GETADDRINFOREQWRAP')
  for (const code of ['NXDOMAIN', 'SERVFAIL', 'REFUSED'] as const) {
    dns.set(`${code.toLowerCase()}.example`, { code })
    const sent = await sender.post(`http://${code.toLowerCase()}.example:${port}/`)
    t.same(outcomeOf(sent), { responseStatus: null, error: 'connection' }, code)
  }
  dns.set('empty.example', {})
  t.same(outcomeOf(await sender.post(`http://empty.example:${port}/`)), { responseStatus: null, error: 'connection' })
  t.equal(lookups.count, 0)
})

async function startDead (t: Parameters<typeof startReceiver>[0]): Promise<{ dns: DnsServer, receiver: Receiver }> {
  const dns = await startDnsServer(t)
  for (let index = 0; index < sends; index++) dns.set(`dead${index}.example`, { silent: true })
  return { dns, receiver: await startReceiver(t) }
}

function deadUrls ({ port }: Receiver): string[] {
  return Array.from({ length: sends }, (_, index) => `http://dead${index}.example:${port}/`)
}

async function timeOf (work: () => Promise<void>): Promise<number> {
  const stop = startStopwatch()
  await work()
  return stop()
}
