import { once } from 'node:events'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { createAuthority, createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { type Behaviour, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { startTlsReceiver } from '../../fixtures/receivers/tls-receiver.js'

const authority = await createAuthority()

const alert = '\x15\x03\x03\0\x02\x02'

/** What a receiver does instead of a handshake, and the reason. */
const cases: Array<[title: string, connect: NonNullable<Behaviour['connect']>, ...reason: string[]]> = [
  ['answers in plain HTTP', (socket) => socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')), 'tls', 'tls_missing'],
  ...([['fails the handshake', '\x28', 'tls_rejected'], ['rejects our versions', '\x46', 'tls_version'], ['rejects HTTP/1.1', '\x78', 'http2_only']] as const)
    .map(([title, code, detail]): (typeof cases)[0] => [title, (socket) => socket.once('data', () => socket.write(alert + code, 'latin1')), 'tls', detail]),
  ['echoes what it received', (socket) => socket.once('data', (hello) => socket.write(hello)), 'tls'],
  ['hangs up immediately', (socket) => socket.end(), 'connection', 'reset'],
  ['resets the connection on the first message', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'connection', 'reset'],
  ['hangs up during its response', (socket) => socket.once('data', () => socket.end('\x16\x03\x03\x02\0', 'latin1')), 'connection', 'reset']
]

t.test('a failed handshake is reported immediately, and nothing is sent', async (t) => {
  const sender = await startSender(t)
  for (const [title, connect, ...reason] of cases) {
    const receiver = await startHostileReceiver(t, { connect })
    for (let round = 1; round <= 2; round++) {
      const { ranMs, responseStatus, error, detail } = await sender.post(receiver.url.replace('http:', 'https:'))
      t.same([responseStatus, error, ...detail === undefined ? [] : [detail]], [null, ...reason], `a receiver that ${title}`)
      t.ok(ranMs < 1000, `${ranMs} ms`)
      t.equal(receiver.connections, round)
    }
  }
})

t.test('a receiver that asks for a client certificate, is its own authority or does not speak HTTP/1.1 is named', async (t) => {
  const sender = await startSender(t)
  const own = await createCertificate(null, { addresses: ['127.0.0.1'] })
  const { port: strict } = await startTlsReceiver(t, { ...own, maxVersion: 'TLSv1.2', requestCert: true })
  const { port: selfSigned } = await startTlsReceiver(t, own)
  const http2 = createHttp2Server().listen(0, '127.0.0.1')
  await once(http2, 'listening')
  t.teardown(() => http2.close())
  const shell = await startHostileReceiver(t, { connect: (socket) => socket.write('SSH-2.0-OpenSSH_9\r\n') })
  const closed = await startHostileReceiver(t, { request: (socket) => socket.end() })
  const reasons: Array<[url: string, ...reason: string[]]> = [
    [`https://127.0.0.1:${strict}`, 'tls', 'client_certificate_required'],
    [`https://127.0.0.1:${selfSigned}`, 'tls', 'certificate_self_signed'],
    [`http://127.0.0.1:${(http2.address() as AddressInfo).port}`, 'connection', 'http2_only'],
    [shell.url, 'connection', 'invalid_response'],
    [closed.url, 'connection', 'reset'],
    ['http://127.0.0.1:9', 'connection', 'refused']
  ]
  for (const [url, ...reason] of reasons) {
    const { error, detail } = await sender.post(url)
    t.same([error, detail], reason, url)
  }
  const guarded = await startSender(t, { allowNetworks: ['127.0.0.2/32'] })
  t.same(Object.keys(await guarded.post(`https://127.0.0.1:${strict}`)).includes('detail'), false, 'blocked has none')
})

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const certificate = await createCertificate(authority, { addresses: ['127.0.0.1'] })

t.test('over TLS too, a post is sent again only if nothing came back over a reused connection', async (t) => {
  const startKeeping = (then: (socket: Socket) => unknown) => startHostileReceiver(t, {
    request: (socket, count) => count === 1 ? socket.write(noContent) : then(socket)
  }, certificate)
  const silent = await startKeeping((socket) => socket.end())
  const cut = await startKeeping((socket) => socket.destroy())
  const partial = await startKeeping((socket) => socket.end('HTTP/1.1 2'))
  const fresh = await startHostileReceiver(t, { request: (socket) => socket.end() }, certificate)
  const receivers = [silent, cut, partial, fresh]
  const results = await postFromChild(
    { urls: receivers.flatMap(({ url }) => [url, url]), pauseMs: 20, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000 },
    { NODE_EXTRA_CA_CERTS: join(t.testdir({ 'authority.pem': authority.cert }), 'authority.pem') }
  )
  const broken = { responseStatus: null, error: 'connection' }
  t.same(results.map(outcomeOf), [delivered, delivered, delivered, delivered, delivered, broken, broken, broken])
  t.same(receivers.map(({ requests }) => requests), [3, 3, 2, 2])
  t.same(receivers.map(({ connections }) => connections), [2, 2, 1, 2])
})
