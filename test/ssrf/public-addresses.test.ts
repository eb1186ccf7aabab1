import t from 'tap'
import { createAddressRule } from '../../src/webhooks/ssrf/addresses.js'
import { parseTargetUrl } from '../../src/webhooks/ssrf/destination.js'
import { toUrlHost } from '../fixtures/hostile/hostile-addresses.js'
import { publicNeighbours } from '../fixtures/hostile/hostile-blocks.js'
import { buildWebhookApi } from '../fixtures/api/webhook-api.js'

const isAllowedAddress = createAddressRule([])

t.test('addresses next to those that are not public are public', async (t) => {
  t.ok(publicNeighbours.length >= 30, `${publicNeighbours.length} addresses`)
  t.same(publicNeighbours.filter((address) => !isAllowedAddress(address)), [])
})

t.test('a webhook may name them', async (t) => {
  const { create } = await buildWebhookApi(t, { maxWebhooksPerTenant: publicNeighbours.length })
  for (const address of publicNeighbours) {
    const target = `https://${toUrlHost(address)}/`
    t.equal((await create({ target_url: target })).target_url, target)
  }
})

t.test('text that is not an address is not allowed', async (t) => {
  const texts = [
    '', ' ', 'localhost', 'example.com', '8.8.8', '8.8.8.8.8', '8.8.8.256', '08.8.8.8', '0x8.8.8.8', '134744072', ' 8.8.8.8', '8.8.8.8 ',
    '8.8.8.8\0', '8.8.8.8/32', '[2606:4700::1111]', '2606:4700::1111::', '2606:4700:1111', '2606:4700::11111', 'g::1', '::ffff:8.8.8.256'
  ]
  t.same(texts.filter(isAllowedAddress), [])
})

t.test('a zone does not make an address public', async (t) => {
  t.same(['fe80::1%eth0', '::1%lo', 'fd00::1%25eth0', 'ff02::1%1'].filter(isAllowedAddress), [])
})

t.test('an address is checked in its normalized form', async (t) => {
  const rules = { allowHttp: false, allowPrivateNames: false, isAllowedAddress }
  t.equal(parseTargetUrl('https://0x08.010.8.8/', rules).href, 'https://8.8.8.8/')
  t.throws(() => parseTargetUrl('https://0x0a.010.8.8/', rules), { message: 'must point to a public host', field: 'target_url' })
})
