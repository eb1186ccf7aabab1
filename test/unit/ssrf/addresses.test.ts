import t from 'tap'
import { parseCidr } from '../../../src/shared/addresses.js'
import { createAddressRule } from '../../../src/webhooks/ssrf/addresses.js'

t.test('a CIDR is read as an address and a prefix', async (t) => {
  t.strictSame(parseCidr('10.0.0.0/8'), { address: '10.0.0.0', prefix: 8 })
  t.strictSame(parseCidr('0.0.0.0/0'), { address: '0.0.0.0', prefix: 0 })
  t.strictSame(parseCidr('127.0.0.1/32'), { address: '127.0.0.1', prefix: 32 })
  t.strictSame(parseCidr('::1/128'), { address: '::1', prefix: 128 })
  for (const text of ['', '/', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/ 8', '10.0.0.0/+8', '10.0.0.0/8.0', '10/8', '::/129', 'localhost/8']) {
    t.equal(parseCidr(text), null, text)
  }
})

const privateAddresses = [
  '0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1',
  '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16',
  '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::808:808', '100::1', '2001::1', '2001:db8::1', '2002:808:808::1', '3fff::1', 'fc00::1',
  'fd00::1', 'fe80::1', 'fec0::1', 'ff02::1', '4000::1'
]

const publicAddresses = [
  '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255',
  '223.255.255.255', '2606:4700::1111', '2a00:1450::1', '2001:4860:4860::8888'
]

t.test('public addresses are allowed and all others are not', async (t) => {
  const isAllowed = createAddressRule([])
  for (const address of privateAddresses) t.notOk(isAllowed(address), address)
  for (const address of publicAddresses) t.ok(isAllowed(address), address)
})

t.test('text that is not an address is not allowed', async (t) => {
  const isAllowed = createAddressRule(['0.0.0.0/0', '::/0'])
  for (const text of ['', 'localhost', 'example.com', '127.1', '010.0.0.1', '[::1]', '8.8.8.8:443', ' 8.8.8.8', '8.8.8.8/32']) {
    t.notOk(isAllowed(text), text)
  }
})

t.test('a network of the host is allowed besides, and nothing around it', async (t) => {
  const isAllowed = createAddressRule(['10.1.0.0/16', 'fd12::/16'])
  for (const address of ['10.1.0.0', '10.1.255.255', 'fd12::1', '8.8.8.8']) t.ok(isAllowed(address), address)
  for (const address of ['10.0.255.255', '10.2.0.0', '127.0.0.1', 'fd13::1', '::1']) t.notOk(isAllowed(address), address)
})

t.test('link-local and metadata addresses stay refused within a wider network', async (t) => {
  const isAllowed = createAddressRule(['0.0.0.0/0', '::/0'])
  for (const address of ['169.254.169.254', '169.254.1.1', 'fe80::1', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']) {
    t.notOk(isAllowed(address), address)
  }
  for (const address of ['127.0.0.1', '10.0.0.1', '::1', 'fd00::1']) t.ok(isAllowed(address), address)
})

t.test('link-local and metadata addresses are allowed when they are named exactly', async (t) => {
  const isAllowed = createAddressRule(['169.254.169.254/32', 'fd00:ec2::254/128'])
  for (const address of ['169.254.169.254', 'fd00:ec2::254']) t.ok(isAllowed(address), address)
  for (const address of ['169.254.169.253', 'fd00:ec2::253', 'fe80::1']) t.notOk(isAllowed(address), address)
})

t.test('a network that is no CIDR is a fault of the caller', async (t) => {
  t.throws(() => createAddressRule(['10.0.0.0']), { message: 'not a CIDR: 10.0.0.0' })
})
