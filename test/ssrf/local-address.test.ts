import t from 'tap'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startConnectProxy } from '../fixtures/receivers/connect-proxy.js'
import { startDnsServer } from '../fixtures/receivers/dns-server.js'
import { delivered, outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const failed = { responseStatus: null, error: 'connection' } as const

t.test('connections come from the local address', async (t) => {
  const { port, sources } = await startSourceReceiver(t)
  for (const localAddress of ['127.0.0.7', '127.0.0.8', undefined]) {
    const sender = await startSender(t, localAddress === undefined ? {} : { localAddress })
    t.same(outcomeOf(await sender.post(`http://127.0.0.1:${port}/`)), delivered)
  }
  t.same(sources, ['127.0.0.7', '127.0.0.8', '127.0.0.1'])
})

t.test('of a name with addresses of both families, those of the local address are used, and all are judged', async (t) => {
  const dns = await startDnsServer(t)
  const { port, sources } = await startSourceReceiver(t)
  dns.set('both.example', { a: ['127.0.0.1'], aaaa: ['::1'] })
  dns.set('four.example', { a: ['127.0.0.1'] })
  dns.set('mixed.example', { a: ['10.0.0.1'], aaaa: ['::1'] })
  for (const localAddress of ['127.0.0.7', '::1']) {
    const sender = await startSender(t, { dns, localAddress })
    t.same(outcomeOf(await sender.post(`http://both.example:${port}/`)), delivered)
    t.equal((await sender.post(`http://mixed.example:${port}/`)).error, 'blocked')
  }
  t.same(sources, ['127.0.0.7', '::1'])
  const sender = await startSender(t, { dns, localAddress: '::1' })
  t.same(outcomeOf(await sender.post(`http://four.example:${port}/`)), failed)
  t.same(outcomeOf(await sender.post(`http://127.0.0.1:${port}/`)), failed)
})

t.test('a local address that the machine does not have is an error of the connection', async (t) => {
  const receiver = await startReceiver(t)
  const sender = await startSender(t, { localAddress: '203.0.113.7' })
  t.same(outcomeOf(await sender.post(receiver.url)), failed)
  t.same(receiver.requests, [])
})

t.test('the connection to a proxy comes from the local address', async (t) => {
  const receiver = await startReceiver(t)
  const { port, sources } = await startSourceReceiver(t)
  const proxy = await startConnectProxy(t)
  const named = proxy.url.replace('127.0.0.1', 'localhost')
  t.same(outcomeOf(await (await startSender(t, { proxy: named, localAddress: '127.0.0.7' })).post(receiver.url)), delivered)
  const through = await startSender(t, { proxy: `http://localhost:${port}`, localAddress: '127.0.0.7' })
  t.equal((await through.post(receiver.url)).error, 'connection')
  t.same(sources, ['127.0.0.7'])
})

/** A receiver on all addresses of the machine that notes where connections come from. */
async function startSourceReceiver (t: Parameters<typeof startReceiver>[0]): Promise<{ port: number, sources: unknown[] }> {
  const sources: unknown[] = []
  const note = (address: string | undefined): void => { sources.push(address?.replace('::ffff:', '')) }
  const server = createServer((request, response) => {
    note(request.socket.remoteAddress)
    response.writeHead(204).end()
  })
  server.on('connect', (request, socket) => {
    note(request.socket.remoteAddress)
    socket.end('HTTP/1.1 503 No\r\n\r\n')
  })
  server.listen(0, '::')
  await once(server, 'listening')
  t.teardown(() => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  }))
  return { port: (server.address() as AddressInfo).port, sources }
}
