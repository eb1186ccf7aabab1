import t from 'tap'
import { join } from 'node:path'
import { postFromChild } from '../../fixtures/hostile/processes/hostile-child.js'
import { startHostileReceiver } from '../../fixtures/hostile/hostile-receiver.js'
import { delivered, outcomeOf } from '../../fixtures/hostile/hostile-sender.js'
import { createAuthority, createCertificate } from '../../fixtures/receivers/tls-certificates.js'

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const authority = await createAuthority()
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
