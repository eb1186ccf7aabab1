import { type AddressInfo, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { type Behaviour, drip, dripOut, flood, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { replaceLookup } from '../../fixtures/receivers/system-lookup.js'
import { until } from '../../fixtures/stopwatch.js'

const timeoutMs = 800
const ok = 'HTTP/1.1 200 OK\r\n\r\n'
const proceed = 'HTTP/1.1 100 Continue\r\n\r\n'
const done = 'HTTP/1.1 204 No Content\r\n\r\n'

const says = (bytes: string): Behaviour => ({ request: (socket) => socket.write(bytes, 'latin1') })

/** What a proxy does instead of opening a tunnel, and the fault in the log. */
const faults: Record<string, [behaviour: Behaviour, fault: string]> = {
  'hangs up immediately': [{ connect: (socket) => socket.end() }, 'the proxy closed the connection'],
  'hangs up during its response': [{ request: (socket) => socket.end('HTTP/1.1 200 OK\r\nvia: a') }, 'the proxy closed the connection'],
  'wants other credentials': [says('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n'), 'the proxy answered 407'],
  redirects: [says('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n'), 'the proxy answered 302'],
  'switches protocols': [says('HTTP/1.1 101 Switching Protocols\r\n\r\n'), 'the proxy answered 101'],
  'continues forever': [says(proceed.repeat(1000)), "the proxy's response is too long"],
  'continues and answers': [says(`${proceed}HTTP/1.1 403 Forbidden\r\n\r\n`), 'the proxy answered 403'],
  'sends a body with its 200': [says(`${ok}hello`), 'the proxy sent more than its answer'],
  'answers twice': [says(`${ok}${ok}`), 'the proxy sent more than its answer'],
  'speaks another version': [says('HTTP/3.0 200 OK\r\n\r\n'), 'the proxy did not answer in HTTP'],
  'sends a status of four digits': [says('HTTP/1.1 2000 OK\r\n\r\n'), 'the proxy did not answer in HTTP'],
  'sends garbage': [says(`${'\0\xff'.repeat(500)}\r\n\r\n`), 'the proxy did not answer in HTTP'],
  'has endless headers': [{ request: (socket) => { socket.write('HTTP/1.1 200 OK\r\n'); flood(socket, 'x: y\r\n'.repeat(500)) } }, "the proxy's response is too long"],
  'floods before it is asked': [{ connect: (socket) => flood(socket, new Uint8Array(1000)) }, "the proxy's response is too long"]
}

for (const [title, [behaviour, proxyFault]] of Object.entries(faults)) {
  t.test(`a proxy that ${title} fails the attempt immediately with a connection error`, async (t) => {
    const { port } = await startHostileReceiver(t, behaviour)
    const sender = await startSender(t, { proxy: `http://127.0.0.1:${port}` })
    for (const scheme of ['http', 'https']) {
      const { durationMs, ranMs, ...outcome } = await sender.post(`${scheme}://127.0.0.1:9/`)
      t.same(outcome, { responseStatus: null, error: 'connection', proxyFault }, scheme)
      t.ok(ranMs < 4000, `${ranMs} ms, before the deadline`)
    }
  })
}

/** How a proxy keeps its client waiting. */
const silences: Record<string, Behaviour> = {
  'reads and is silent': { request: () => {} },
  'continues and is silent': says(proceed),
  'drips its answer': { request: (socket) => dripOut(socket, `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1000)}\r\n\r\n`, 20) },
  'drips headers forever': { request: (socket) => { socket.write('HTTP/1.1 200 OK\r\n'); drip(socket, 'x: y\r\n', 20) } },
  'stops before the empty line': says('HTTP/1.1 200 OK\r\n'),
  'ends its lines with line feeds': says('HTTP/1.1 200 OK\n\n'),
}

for (const scheme of ['http', 'https']) {
  t.test(`a slow ${scheme} proxy fails the attempt at its deadline with a connection error`, async (t) => {
    await Promise.all(Object.entries(silences).map(async ([title, behaviour]) => {
      const proxy = await startHostileReceiver(t, behaviour)
      const sender = await startSender(t, { proxy: `${scheme}://127.0.0.1:${proxy.port}`, timeoutMs: 5000 })
      const { durationMs, ranMs, ...outcome } = await sender.post('https://127.0.0.1:9/', { timeoutMs })
      t.match(outcome, { responseStatus: null, error: 'connection', proxyFault: String }, `a proxy that ${title}`)
      t.ok(ranMs < timeoutMs + 1000, `${ranMs} ms`)
      // The connection is closed with the attempt.
      await until(() => proxy.open === 0)
    }))
  })
}

t.test('a proxy can send informational responses before it opens the tunnel, even in pieces', async (t) => {
  for (const begin of [proceed, `${proceed}HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n`]) {
    const atOnce = (socket: Socket, bytes: string) => socket.write(bytes)
    const inPieces = (socket: Socket, bytes: string) => dripOut(socket, bytes, 1)
    for (const write of [atOnce, inPieces]) {
      const { port } = await startHostileReceiver(t, {
        request: (socket, count) => { write(socket, count === 1 ? begin + ok : done) }
      })
      const sender = await startSender(t, { proxy: `http://127.0.0.1:${port}` })
      t.same(outcomeOf(await sender.post('http://127.0.0.1:9/')), { responseStatus: 204, error: null })
    }
  }
})

t.test('a proxy that is down causes a connection error', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  replaceLookup(t, async () => { throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }) })
  for (const [proxy, code] of [['http://127.0.0.1', 'ECONNREFUSED'], ['https://127.0.0.1', 'ECONNREFUSED'], ['http://proxy.example', 'ENOTFOUND']]) {
    const sender = await startSender(t, { proxy: `${proxy}:${port}` })
    const { error, proxyFault } = await sender.post('http://127.0.0.1:9/')
    t.same([error, proxyFault], ['connection', `cannot connect to the proxy: ${code}`])
  }
})

t.test('a proxy with an invalid certificate causes a connection error', async (t) => {
  const certificate = await createCertificate(null, { addresses: ['127.0.0.1'] })
  const proxy = await startHostileReceiver(t, {}, certificate)
  const sender = await startSender(t, { proxy: `https://127.0.0.1:${proxy.port}` })
  const sent = await sender.post('https://127.0.0.1:9/')
  t.same(outcomeOf(sent), { responseStatus: null, error: 'connection', proxyFault: 'cannot connect to the proxy: DEPTH_ZERO_SELF_SIGNED_CERT' })
  t.equal(proxy.requests, 0)
})

t.test('silence after the tunnel is open, or of a name server, is a timeout', async (t) => {
  const dns = await startDnsServer(t)
  dns.set('dead.example', { silent: true })
  const { port } = await startHostileReceiver(t, {
    request: (socket: Socket, count: number) => { if (count === 1) socket.write(ok) }
  })
  const sender = await startSender(t, { dns, proxy: `http://127.0.0.1:${port}` })
  await Promise.all(['http://127.0.0.1:9/', 'https://127.0.0.1:9/', 'https://dead.example/'].map(async (url) => {
    const { durationMs, ranMs, ...outcome } = await sender.post(url, { timeoutMs })
    t.same(outcome, { responseStatus: null, error: 'timeout' })
    t.ok(durationMs >= timeoutMs - 1 && ranMs < timeoutMs + 1000)
  }))
})

t.test('a tunnel that breaks causes a connection error', async (t) => {
  for (const scheme of ['http', 'https']) {
    const proxy = await startHostileReceiver(t, {
      request (socket, count) {
        if (count > 1) return
        socket.once('data', () => socket.destroy())
        socket.write(ok)
      }
    })
    const sender = await startSender(t, { proxy: `http://127.0.0.1:${proxy.port}` })
    t.same(outcomeOf(await sender.post(`${scheme}://127.0.0.1:9/`)), { responseStatus: null, error: 'connection' })
    t.equal(proxy.connections, 1)
  }
})
