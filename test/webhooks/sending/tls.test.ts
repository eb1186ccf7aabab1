import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDnsServer } from '../../fixtures/receivers/dns-server.js'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { delivered, outcomeOf, startSender } from '../../fixtures/hostile/hostile-sender.js'
import { type Certificate, createAuthority, createCertificate } from '../../fixtures/receivers/tls-certificates.js'
import { startTlsReceiver, type TlsReceiver } from '../../fixtures/receivers/tls-receiver.js'
import { type Behaviour, startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'

const refused = { responseStatus: null, error: 'tls' } as const
const dayMs = 24 * 60 * 60 * 1000
const authority = await createAuthority()
const right = await createCertificate(authority, { names: ['hooks.example'], addresses: ['127.0.0.1', '::1'] })
const yesterday = new Date(Date.now() - dayMs)

const bad: Array<[title: string, certificate: Certificate]> = [
  ['signed by itself', await createCertificate(null, { names: ['hooks.example'], addresses: ['127.0.0.1'] })],
  ['signed by an unknown authority', await createCertificate(await createAuthority(), { names: ['hooks.example'], addresses: ['127.0.0.1'] })],
  ['expired', await createCertificate(authority, {
    names: ['hooks.example'], addresses: ['127.0.0.1'], notBefore: new Date(Date.now() - 2 * dayMs), notAfter: yesterday
  })],
  ['not valid yet', await createCertificate(authority, {
    names: ['hooks.example'], addresses: ['127.0.0.1'], notBefore: new Date(Date.now() + dayMs), notAfter: new Date(Date.now() + 2 * dayMs)
  })],
  ['for another name', await createCertificate(authority, { names: ['other.example', 'example', '*.hooks.example'], addresses: ['127.0.0.2'] })],
  ['without a name', await createCertificate(authority)],
  ['for clients', await createCertificate(authority, { names: ['hooks.example'], addresses: ['127.0.0.1'], usage: 'clientAuth' })]
]

t.test('a receiver with a good certificate is delivered to, by name and by address', async (t) => {
  const receiver = await startTlsReceiver(t, right)
  t.same(await post(t, [receiver]), [[delivered, delivered, delivered, delivered]])
  t.same(receiver.requests, ['/name', '/address', '/name', '/address'])
})

t.test('a bad certificate is refused over either version, and the second time too', async (t) => {
  const cases = bad.flatMap(([title, certificate]) => [
    { title, options: { ...certificate, maxVersion: 'TLSv1.2' } as const },
    { title, options: { ...certificate, maxVersion: 'TLSv1.3' } as const }
  ])
  const receivers = await Promise.all(cases.map(({ options }) => startTlsReceiver(t, options)))
  const outcomes = await post(t, receivers)
  for (const [index, { title, options: { maxVersion } }] of cases.entries()) {
    t.same(outcomes[index], [refused, refused, refused, refused], `a certificate ${title}, over ${maxVersion}`)
    t.same(receivers[index]?.requests, [], 'nothing was sent')
  }
})

t.test('a receiver that speaks no TLS newer than 1.1 is refused, even if the host would not', async (t) => {
  const versions = ['TLSv1', 'TLSv1.1'] as const
  const ciphers = 'DEFAULT@SECLEVEL=0'
  const receivers = await Promise.all(versions.map((version) => {
    return startTlsReceiver(t, { ...right, ciphers, minVersion: version, maxVersion: version })
  }))
  const outcomes = await post(t, receivers, { NODE_OPTIONS: `--tls-min-v1.0 --tls-cipher-list=${ciphers}` })
  t.same(outcomes, versions.map(() => [refused, refused, refused, refused]))
  t.same(receivers.map(({ requests }) => requests), [[], []])
})

t.test('the sessions of one receiver vouch for no other', async (t) => {
  const good = await startTlsReceiver(t, right)
  const other = await startTlsReceiver(t, await createCertificate(authority, { names: ['other.example'], addresses: ['127.0.0.2'] }))
  const outcomes = await post(t, [good, other])
  t.same(outcomes, [[delivered, delivered, delivered, delivered], [refused, refused, refused, refused]])
  t.same(other.requests, [])
})

/** Posts twice to a name and to the address of each of these, where the authority is trusted. */
async function post (t: Test, receivers: readonly TlsReceiver[], env: Record<string, string> = {}) {
  const dns = await startDnsServer(t)
  dns.set('hooks.example', { a: ['127.0.0.1'] })
  const urls = receivers.flatMap(({ port }) => [`https://hooks.example:${port}/name`, `https://127.0.0.1:${port}/address`])
  const directory = t.testdir({ 'authority.pem': authority.cert })
  const results = await postFromChild(
    { urls, rounds: 2, allowNetworks: ['127.0.0.1/32'], timeoutMs: 5000, dnsServer: dns.address },
    { NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'), ...env }
  )
  const outcomes = results.map(outcomeOf)
  return receivers.map((_, index) => [0, 1, urls.length, urls.length + 1].map((offset) => outcomes[index * 2 + offset]))
}

const alert = '\x15\x03\x03\0\x02\x02'

/** What a receiver may do instead of a handshake, and the error's name. */
const cases: Array<[title: string, connect: NonNullable<Behaviour['connect']>, error: 'tls' | 'connection']> = [
  ['answers in plain HTTP', (socket) => socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')), 'tls'],
  ['answers in plain HTTP before it is asked', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), 'tls'],
  ['sends garbage', (socket) => socket.write('garbage'.repeat(100)), 'tls'],
  ['speaks SSH', (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'), 'tls'],
  ['fails the handshake', (socket) => socket.once('data', () => socket.write(`${alert}\x28`, 'latin1')), 'tls'],
  ['knows no such version', (socket) => socket.once('data', () => socket.write(`${alert}\x46`, 'latin1')), 'tls'],
  ['knows no such name', (socket) => socket.once('data', () => socket.write(`${alert}\x70`, 'latin1')), 'tls'],
  ['answers with what it was sent', (socket) => socket.once('data', (hello) => socket.write(hello)), 'tls'],
  ['hangs up at once', (socket) => socket.end(), 'connection'],
  ['resets the connection at once', (socket) => socket.resetAndDestroy(), 'connection'],
  ['hangs up on the first message', (socket) => socket.once('data', () => socket.end()), 'connection'],
  ['resets the connection on the first message', (socket) => socket.once('data', () => socket.resetAndDestroy()), 'connection'],
  ['hangs up in its answer', (socket) => socket.once('data', () => socket.end('\x16\x03\x03\x02\0', 'latin1')), 'connection']
]

t.test('a handshake that fails is named at once, and nothing is sent', async (t) => {
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

t.test('a plain post to a receiver that speaks TLS fails', async (t) => {
  const sender = await startSender(t)
  const receiver = await startTlsReceiver(t, await createCertificate(null, { addresses: ['127.0.0.1'] }))
  const sent = await sender.post(`http://127.0.0.1:${receiver.port}/`)
  t.same(outcomeOf(sent), { responseStatus: null, error: 'connection' })
  t.same(receiver.requests, [])
})

t.test('a port at which nothing listens refuses the connection', async (t) => {
  const sender = await startSender(t)
  for (const url of ['http://127.0.0.1:1/', 'https://127.0.0.1:1/', 'http://127.0.0.77:1/']) {
    t.same(outcomeOf(await sender.post(url)), { responseStatus: null, error: 'connection' }, url)
  }
})

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const certificate = await createCertificate(authority, { addresses: ['127.0.0.1'] })

t.test('over TLS too, a post is sent again only when nothing came back on a kept connection', async (t) => {
  const silent = await startHostileReceiver(t, { request: (socket, count) => count === 1 ? socket.write(noContent) : socket.end() }, certificate)
  const cut = await startHostileReceiver(t, { request: (socket, count) => count === 1 ? socket.write(noContent) : socket.destroy() }, certificate)
  const partial = await startHostileReceiver(t, { request: (socket, count) => count === 1 ? socket.write(noContent) : socket.end('HTTP/1.1 2') }, certificate)
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
