import type { Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { createAuthority, createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { type Behaviour, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
const authority = await createAuthority()

const alert = '\x15\x03\x03\0\x02\x02'

/** What a receiver does instead of a handshake, and the error's name. */
const cases: Array<[title: string, connect: NonNullable<Behaviour['connect']>, error: 'tls' | 'connection']> = [
  ['answers in plain HTTP', (socket) => socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')), 'tls'],
  ['fails the handshake', (socket) => socket.once('data', () => socket.write(`${alert}\x28`, 'latin1')), 'tls'],
  ['echoes what it received', (socket) => socket.once('data', (hello) => socket.write(hello)), 'tls'],
  ['hangs up immediately', (socket) => socket.end(), 'connection'],
  ['resets the connection on the first message', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'connection'],
  ['hangs up during its response', (socket) => socket.once('data', () => socket.end('\x16\x03\x03\x02\0', 'latin1')), 'connection']
]

t.test('a failed handshake is reported immediately, and nothing is sent', async (t) => {
  const sender = await startSender(t)
  for (const [title, connect, error] of cases) {
    const receiver = await startHostileReceiver(t, { connect })
    for (let round = 1; round <= 2; round++) {
      const { durationMs, ranMs, ...outcome } = await sender.post(receiver.url.replace('http:', 'https:'))
      t.same(outcome, { responseStatus: null, error }, `a receiver that ${title}`)
      t.ok(ranMs < 1000, `${ranMs} ms`)
      t.equal(receiver.connections, round)
    }
  }
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
