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

/** A response of a proxy that opens no tunnel, the reason in the log, and the party at fault. */
const faults: Record<string, [behaviour: Behaviour, reason: string, blames: 'proxy' | 'receiver' | 'policy']> = {
  'hangs up immediately': [{ connect: (socket) => socket.end() }, 'the proxy closed the connection', 'proxy'],
  'hangs up during its response': [{ request: (socket) => socket.end('HTTP/1.1 200 OK\r\nvia: a') }, 'the proxy closed the connection', 'receiver'],
  'wants other credentials': [says('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n'), 'the proxy answered 407 Proxy Authentication Required', 'proxy'],
  redirects: [says('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n'), 'the proxy answered 302 Found', 'proxy'],
  'switches protocols': [says('HTTP/1.1 101 Switching Protocols\r\n\r\n'), 'the proxy answered 101 Switching Protocols', 'proxy'],
  'continues forever': [says(proceed.repeat(1000)), "the proxy's response is too long", 'proxy'],
  'continues and answers': [says(`${proceed}HTTP/1.1 403 Forbidden\r\n\r\n`), 'the proxy answered 403 Forbidden', 'policy'],
  'sends a body with its 200': [says(`${ok}hello`), 'the proxy sent more than its answer', 'receiver'],
  'answers twice': [says(`${ok}${ok}`), 'the proxy sent more than its answer', 'receiver'],
  'speaks another version': [says('HTTP/3.0 200 OK\r\n\r\n'), 'the proxy did not answer in HTTP', 'proxy'],
  'sends a status of four digits': [says('HTTP/1.1 2000 OK\r\n\r\n'), 'the proxy did not answer in HTTP', 'proxy'],
  'sends garbage': [says(`${'\0\xff'.repeat(500)}\r\n\r\n`), 'the proxy did not answer in HTTP', 'proxy'],
  'has endless headers': [{ request: (socket) => { socket.write('HTTP/1.1 200 OK\r\n'); flood(socket, 'x: y\r\n'.repeat(500)) } }, "the proxy's response is too long", 'proxy'],
  'floods before it is asked': [{ connect: (socket) => flood(socket, new Uint8Array(1000)) }, "the proxy's response is too long", 'proxy']
}

const squid = (status: string, error: string) => says(`HTTP/1.1 ${status}\r\nX-Squid-Error: ${error}\r\n\r\n`)
const smokescreen = (status: string, error: string) => says(`HTTP/1.1 ${status}\r\nx-smokescreen-error: ${error}\r\n\r\n`)

Object.assign(faults, {
  'runs Squid and cannot connect': [squid('503 Service Unavailable', 'ERR_CONNECT_FAIL 111'), 'the proxy answered 503 Service Unavailable (X-Squid-Error: ERR_CONNECT_FAIL 111)', 'receiver'],
  'runs Squid and denies the target': [squid('403 Forbidden', 'ERR_ACCESS_DENIED 0'), 'the proxy answered 403 Forbidden (X-Squid-Error: ERR_ACCESS_DENIED 0)', 'policy'],
  'runs Squid and wants credentials': [squid('407 Proxy Authentication Required', 'ERR_CACHE_ACCESS_DENIED 0'), 'the proxy answered 407 Proxy Authentication Required (X-Squid-Error: ERR_CACHE_ACCESS_DENIED 0)', 'proxy'],
  'runs Squid and is overloaded': [squid('503 Service Unavailable', 'ERR_SOCKET_FAILURE 24'), 'the proxy answered 503 Service Unavailable (X-Squid-Error: ERR_SOCKET_FAILURE 24)', 'proxy'],
  'runs Smokescreen and cannot connect': [smokescreen('502 Bad gateway', 'dial tcp: refused'), 'the proxy answered 502 Bad gateway (x-smokescreen-error: dial tcp: refused)', 'receiver'],
  'runs Smokescreen and denies the target': [smokescreen('407 Request rejected by proxy', 'host not allowed'), 'the proxy answered 407 Request rejected by proxy (x-smokescreen-error: host not allowed)', 'policy'],
  'has a long reason': [says(`HTTP/1.1 502 ${'x'.repeat(999)}\x1b\r\n\r\n`), `the proxy answered 502 ${'x'.repeat(196)}`, 'receiver']
} satisfies typeof faults)

for (const [title, [behaviour, reason, blames]] of Object.entries(faults)) {
  const errors = { proxy: 'a fault of its own', receiver: 'a connection error', policy: 'the error blocked' }
  t.test(`a proxy that ${title} fails the attempt immediately with ${errors[blames]}`, async (t) => {
    const { port } = await startHostileReceiver(t, behaviour)
    const sender = await startSender(t, { proxy: `http://127.0.0.1:${port}` })
    for (const scheme of ['http', 'https']) {
      const { durationMs, ranMs, ...outcome } = await sender.post(`${scheme}://127.0.0.1:9/`)
      const error = blames === 'policy' ? 'blocked' : 'connection'
      const fault = blames === 'proxy' ? { ownFault: { cause: 'proxy', reason } } : { proxyFault: reason }
      t.same(outcome, { responseStatus: null, error, ...fault }, scheme)
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
  t.test(`a slow ${scheme} proxy fails the attempt at its deadline with a fault of its own`, async (t) => {
    await Promise.all(Object.entries(silences).map(async ([title, behaviour]) => {
      const proxy = await startHostileReceiver(t, behaviour)
      const sender = await startSender(t, { proxy: `${scheme}://127.0.0.1:${proxy.port}`, timeoutMs: 5000 })
      const { durationMs, ranMs, ...outcome } = await sender.post('https://127.0.0.1:9/', { timeoutMs })
      t.match(outcome, { responseStatus: null, error: 'connection', ownFault: { cause: 'proxy' } }, `a proxy that ${title}`)
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

t.test('a proxy that is down is at fault itself', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  replaceLookup(t, async () => { throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }) })
  for (const [proxy, code] of [['http://127.0.0.1', 'ECONNREFUSED'], ['https://127.0.0.1', 'ECONNREFUSED'], ['http://proxy.example', 'ENOTFOUND']]) {
    const sender = await startSender(t, { proxy: `${proxy}:${port}` })
    const { error, ownFault } = await sender.post('http://127.0.0.1:9/')
    t.same([error, ownFault], ['connection', { cause: 'proxy', reason: `cannot connect to the proxy: ${code}` }])
  }
})

t.test('a proxy with an invalid certificate is at fault itself', async (t) => {
  const certificate = await createCertificate(null, { addresses: ['127.0.0.1'] })
  const proxy = await startHostileReceiver(t, {}, certificate)
  const sender = await startSender(t, { proxy: `https://127.0.0.1:${proxy.port}` })
  const sent = await sender.post('https://127.0.0.1:9/')
  t.same(outcomeOf(sent), {
    responseStatus: null, error: 'connection', ownFault: { cause: 'proxy', reason: 'cannot connect to the proxy: DEPTH_ZERO_SELF_SIGNED_CERT' }
  })
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

t.test('a proxy that answers others while one target is silent waits for the receiver', async (t) => {
  const proxy = await startHostileReceiver(t, {
    connect (socket) {
      socket.once('data', (head) => { if (head.toString().startsWith('GET ')) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') })
    }
  })
  const sender = await startSender(t, { proxy: `http://127.0.0.1:${proxy.port}`, timeoutMs: 400 })
  const { error, proxyFault } = await sender.post('http://127.0.0.1:9/')
  t.same([error, proxyFault], ['connection', 'the proxy did not respond in time'])
})
