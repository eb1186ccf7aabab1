import dgram from 'node:dgram'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import t, { type Test } from 'tap'
import type { Outage } from '../../../src/index.js'
import { findLocalFault, judgeConnectError } from '../../../src/core/webhooks/ssrf/network.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { type DnsServer, startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { replaceLookup } from '../../fixtures/receivers/system-lookup.js'

t.test('while the proxy is down, no attempt counts, no webhook fails, and the vendor gets one alert', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  proxy.route(() => 407)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const lines: Array<[fields: object, message: string | undefined]> = []
  const add = (fields: object, message?: string): void => { lines.push([fields, message]) }
  const engine = start({ logger: { info: add, warn: add, error: add }, delivery: { proxy: { url: proxy.url } } })
  const outages: Outage[] = []
  const published: unknown[] = []
  const onMessage = (message: unknown): void => { published.push(message) }
  subscribe('fastify-recruiting-api:outage', onMessage)
  t.teardown(() => unsubscribe('fastify-recruiting-api:outage', onMessage))
  engine.on('outage', (outage) => { outages.push(outage) })

  const webhooks = [await addWebhook(receiver.url), await addWebhook(receiver.url)]
  for (let count = 0; count < 3; count++) await engine.emit(event)
  const startedAt = new Date(clock.now()).toISOString()
  await engine.drain()
  // Each minute brings another attempt.
  await clock.advance(60_000)
  await engine.drain()
  for (const id of webhooks) {
    t.match(await storage.webhooks.find('acme', id), { status: 'active', failing_since: null })
    t.same(await deliveries(id), [['pending', 0], ['pending', 0], ['pending', 0]])
  }
  const { attempts } = await engine.stats()
  t.same(Object.entries(attempts).filter(([result, count]) => result !== 'postponed' && count > 0), [])
  t.ok(attempts.postponed >= 12, `${attempts.postponed} attempts`)
  const begun = { cause: 'proxy', reason: 'the proxy answered 407 No', startedAt, endedAt: null, attempts: 1 }
  t.same(outages, [begun])

  proxy.route((target) => ({ host: '127.0.0.1', port: Number(target.split(':')[1]) }))
  await clock.advance(60_000)
  await engine.drain()
  t.equal(receiver.requests.length, 6)
  await clock.advance(60_000)
  await engine.emit(event)
  await engine.drain()
  const endedAt = outages[1]?.endedAt ?? null
  t.not(endedAt, null)
  t.same(outages, [begun, { ...begun, endedAt, attempts: attempts.postponed }])
  t.same(published, outages)
  t.same(lines.filter(([, message]) => message?.startsWith('this process')), [
    [{ cause: 'proxy', reason: begun.reason }, 'this process cannot send, deliveries wait'],
    [{ cause: 'proxy', started_at: startedAt, attempts: attempts.postponed }, 'this process can send again']
  ])
  t.same(lines.filter(([, message]) => message?.startsWith('delivery failed')), [])
})

const brokenName = { timeout: { silent: true }, connection: { code: 'SERVFAIL' } } as const

for (const [error, zone] of Object.entries(brokenName)) {
  t.test(`a name with broken name servers is a ${error} error, unless the own name server is broken too`, async (t) => {
    const dns = await startDnsServer(t)
    const sender = await startSender(t, { dns, allowNetworks: [], timeoutMs: 1500 })
    dns.set('broken.example', zone)
    t.same(outcomeOf(await sender.post('http://broken.example/')), { responseStatus: null, error })
    dns.set('.', zone)
    t.match(await sender.post('http://broken.example/'), { responseStatus: null, error: 'connection', ownFault: { cause: 'name_server' } })
  })
}

t.test('without a name server, a name that the system does not find is a fault of the process', async (t) => {
  replaceLookup(t, async () => { throw Object.assign(new Error('try again'), { code: 'EAI_AGAIN' }) })
  const sender = await startSender(t, { dns: await startGoneDnsServer(), allowNetworks: [] })
  t.same(outcomeOf(await sender.post('http://known.example/')), {
    responseStatus: null, error: 'connection', ownFault: { cause: 'name_server', reason: 'ECONNREFUSED, EAI_AGAIN' }
  })
})

/** Replaces the routes of datagram sockets: an error code by socket type. */
function replaceRoutes (t: Test, codes: { udp4?: string, udp6?: string }): void {
  t.intercept(dgram.Socket.prototype, 'connect', {
    value (this: dgram.Socket & { type: 'udp4' | 'udp6' }, _port: number, _address: string, callback: (error?: Error) => void) {
      const code = codes[this.type]
      setImmediate(callback, code === undefined ? undefined : Object.assign(new Error(code), { code }))
    }
  })
}

t.test('an unreachable address is a fault of the process only if there is no default route', async (t) => {
  const error = Object.assign(new Error('connect ENETUNREACH'), { code: 'ENETUNREACH', syscall: 'connect' })
  replaceRoutes(t, { udp6: 'EADDRNOTAVAIL' })
  t.equal(await judgeConnectError(error), error)
  t.equal(await findLocalFault(), null)
  replaceRoutes(t, { udp4: 'ENETUNREACH', udp6: 'EADDRNOTAVAIL' })
  t.match(await judgeConnectError(error), { message: 'ENETUNREACH', code: undefined })
  for (const code of ['ECONNREFUSED', 'ETIMEDOUT', 'ECONNRESET']) {
    const other = Object.assign(new Error(code), { code })
    t.equal(await judgeConnectError(other), other, code)
  }
})

t.test('a lookup without a descriptor fails with the code of the system', async (t) => {
  replaceRoutes(t, { udp4: 'EMFILE', udp6: 'EMFILE' })
  const sender = await startSender(t, { dns: await startGoneDnsServer(), allowNetworks: [] })
  t.same(outcomeOf(await sender.post('http://known.example/')), {
    responseStatus: null, error: 'connection', ownFault: { cause: 'descriptors', reason: 'EMFILE' }
  })
})

/** A port on which no name server listens any more. */
async function startGoneDnsServer (): Promise<DnsServer> {
  const closers: Array<() => unknown> = []
  const server = await startDnsServer({ teardown: (close) => closers.push(close) })
  for (const close of closers) await close()
  return server
}
