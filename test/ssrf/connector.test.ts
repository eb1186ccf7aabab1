import t from 'tap'
import { type Socket, getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net'
import { createAddressRule } from '../../src/webhooks/ssrf/addresses.js'
import { BlockedAddressError, type Connect, createGuardedConnector, PendingConnection } from '../../src/webhooks/ssrf/connector.js'
import type { Resolver } from '../../src/webhooks/ssrf/resolver.js'
import { countConnects } from '../fixtures/hostile/hostile-connections.js'
import { startHostileReceiver } from '../fixtures/hostile/hostile-receiver.js'

const isAllowed = createAddressRule(['127.0.0.1/32'])

t.test('a literal address that is not allowed is not connected to, whatever let it come so far', async (t) => {
  const connector = connectorOf({ resolve: async () => [] })
  const connects = countConnects(t)
  for (const hostname of ['10.0.0.1', '127.0.0.2', '[::1]', '::1', '[fe80::1]', '0.0.0.0']) {
    t.ok(await faultOf(connect(connector, hostname, 80)) instanceof BlockedAddressError, hostname)
  }
  t.equal(connects.count, 0)
})

t.test('a name without an address, or with one that is none, is not connected to', async (t) => {
  const connects = countConnects(t)
  const answers = [[], [{ address: '', family: 4 }], [{ address: 'localhost', family: 4 }], [{ address: '127.0.0.1', family: 4 }, { address: '127.1', family: 4 }]]
  for (const addresses of answers) {
    const connector = connectorOf({ resolve: async () => addresses })
    t.ok(await faultOf(connect(connector, 'hooks.example', 80)) instanceof BlockedAddressError, JSON.stringify(addresses))
  }
  t.equal(connects.count, 0)
})

t.test('a name is guarded in the same way where the host has turned the choice of family off', async (t) => {
  const { port } = await startHostileReceiver(t, {})
  const before = getDefaultAutoSelectFamily()
  setDefaultAutoSelectFamily(false)
  t.teardown(async () => setDefaultAutoSelectFamily(before))
  const connects = countConnects(t)
  const mixed = connectorOf({ resolve: async () => [{ address: '127.0.0.1', family: 4 }, { address: '10.0.0.1', family: 4 }] })
  t.ok(await faultOf(connect(mixed, 'hooks.example', port)) instanceof BlockedAddressError)
  t.equal(connects.count, 0)
  const good = connectorOf({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const socket = await connect(good, 'hooks.example', port)
  t.equal(socket.remoteAddress, '127.0.0.1')
  socket.destroy()
})

t.test('an error of the lookup is the error of the connection', async (t) => {
  const connector = connectorOf({ resolve: async () => { throw new Error('no such name') } })
  await t.rejects(connect(connector, 'hooks.example', 80), { message: 'no such name' })
})

t.test('a connection that is given up while it is being made ends, and one that is made does not', async (t) => {
  const { port } = await startHostileReceiver(t, {})
  const connector = connectorOf({ resolve: () => new Promise(() => {}) })
  const connections = Array.from({ length: 4 }, () => new PendingConnection())
  const [first, second, third, fourth] = connections
  const made = await connect(connector, '127.0.0.1', port, 'http:', first)
  const waiting = connect(connector, 'hooks.example', port, 'http:', second)
  const shaking = connect(connector, '127.0.0.1', port, 'https:', third)
  for (const pending of connections) pending.close()
  await t.rejects(waiting, { message: 'closed' })
  await t.rejects(shaking, { message: 'closed' })
  await t.rejects(connect(connector, '127.0.0.1', port, 'http:', fourth), { message: 'closed' })
  t.equal(made.destroyed, false)
  made.destroy()
})

t.test('text that is not a CIDR throws', async (t) => {
  t.throws(() => createAddressRule(['10.0.0.0']), { message: 'not a CIDR: 10.0.0.0' })
})

function connectorOf (resolver: Omit<Resolver, 'close'>): Connect {
  return createGuardedConnector({ isAllowed, resolver: { ...resolver, close: () => {} }, timeoutMs: 5000 })
}

async function faultOf (connecting: Promise<Socket>): Promise<unknown> {
  return connecting.then(() => null, (error: unknown) => error)
}

function connect (connector: Connect, hostname: string, port: number, protocol = 'http:', pending = new PendingConnection()): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connector({ hostname, protocol, port: String(port), host: `${hostname}:${port}` }, (...[error, socket]) => {
      if (error !== null) reject(error)
      else resolve(socket)
    }, pending)
  })
}
