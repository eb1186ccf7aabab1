import t from 'tap'
import Fastify from 'fastify'
import recruitingApi from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/memory/index.js'
import { createAddressRule } from '../../src/webhooks/ssrf/addresses.js'
import { metadataAddresses } from '../fixtures/hostile/hostile-blocks.js'
import { countConnects } from '../fixtures/hostile/hostile-connections.js'
import { blocked, delivered, outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const metadata = Object.values(metadataAddresses)
/** Link-local addresses, and metadata services in the clothes of IPv6. */
const sensitive = [
  ...metadata, '169.254.0.0', '169.254.1.1', '169.254.255.255', 'fe80::', 'fe80::1', 'fe80::1%eth0', 'febf:ffff::1', 'fd00:ec2::', 'fd00:ec2:0:1::',
  '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::169.254.169.254', '::ffff:0:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1', '2001:0:a9fe:a9fe::', '64:ff9b::a83f:8110', '::ffff:100.100.100.200', '64:ff9b::192.0.0.192'
]

t.test('a CIDR opens its own addresses and no others', async (t) => {
  const isAllowed = createAddressRule(['10.20.0.0/16', 'fd12:3456::/32', '192.168.7.9/32', '172.16.5.5/12'])
  const open = ['10.20.0.0', '10.20.255.255', '::ffff:10.20.1.1', 'fd12:3456::', 'fd12:3456:ffff::1', '192.168.7.9', '172.31.255.255', '8.8.8.8']
  const shut = ['10.19.255.255', '10.21.0.0', '::ffff:10.21.0.0', '::10.20.1.1', 'fd12:3455:ffff::', 'fd12:3457::', '192.168.7.8', '192.168.7.10', '127.0.0.1']
  t.same(open.filter((address) => !isAllowed(address)), [])
  t.same(shut.filter(isAllowed), [])
})

t.test('no network, however wide, opens link-local addresses and metadata services', async (t) => {
  const networks = [
    ['0.0.0.0/0'], ['::/0'], ['0.0.0.0/0', '::/0'], ['169.254.0.0/16', 'fe80::/10'], ['169.254.169.254/31', 'fd00:ec2::254/127'],
    ['100.64.0.0/10', '192.0.0.0/24', '168.63.129.0/24'], ['fd00::/8', 'fc00::/7'], ['::ffff:0:0/96', '64:ff9b::/96', '2002::/16', '2001::/32'],
    ['169.254.169.253/32', 'fd00:ec2::253/128', 'fd00:ec2::/32']
  ]
  for (const network of networks) {
    const named = network.map((cidr) => cidr.replace(/\/(32|128)$/, ''))
    const isAllowed = createAddressRule(network)
    t.same(sensitive.filter((address) => !named.includes(address)).filter(isAllowed), [], network.join(' '))
  }
})

t.test('with every network open, private ones and the loopback are', async (t) => {
  const isAllowed = createAddressRule(['0.0.0.0/0', '::/0'])
  const addresses = ['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '240.0.0.1', '::1', 'fd00::1', '64:ff9b::a00:1', '8.8.8.8']
  t.same(addresses.filter((address) => !isAllowed(address)), [])
})

t.test('those are open when they are named as a single address', async (t) => {
  for (const address of metadata) {
    const isAllowed = createAddressRule([`${address}/${address.includes(':') ? 128 : 32}`])
    t.ok(isAllowed(address), address)
    t.same(metadata.filter((other) => other !== address && isAllowed(other)), [], `nothing but ${address}`)
  }
})

t.test('a webhook reaches a private receiver where its network is open', async (t) => {
  const { port, requests } = await startReceiver(t)
  const open = await startSender(t, { allowNetworks: ['127.0.0.0/8'] })
  const shut = await startSender(t, { allowNetworks: ['127.0.0.2/32', '10.0.0.0/8'] })
  const urls = [`http://127.0.0.1:${port}/`, `http://127.1:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`]
  for (const url of urls) t.same(outcomeOf(await open.post(url)), delivered, url)
  const connects = countConnects(t)
  for (const url of urls) t.same(outcomeOf(await shut.post(url)), blocked, url)
  t.equal(connects.count, 0)
  t.equal(requests.length, 3)
})

t.test('text that is not a CIDR fails at registration, with the path of the option', async (t) => {
  const texts = [
    '', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0/8', '10.0.0.0/ 8', '10.0.0.0/8 ', '10.0.0.0/0x8', '10.0.0.0/8.0',
    '::/129', 'fe80::1%eth0/128', '[::1]/128', 'localhost/32', '010.0.0.0/8', '*', '10.*'
  ]
  for (const text of texts) {
    const app = Fastify()
    const register = async () => {
      await app.register(recruitingApi, {
        storage: memoryStorage(), keyLookup: memoryKeyLookup([]), delivery: { worker: false, allowNetworks: ['127.0.0.1/32', text] }
      })
    }
    await t.rejects(register, { message: /delivery\.allowNetworks\[1\]/ }, JSON.stringify(text))
    await app.close()
  }
})
