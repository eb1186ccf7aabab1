import t from 'tap'
import { countConnects } from '../fixtures/hostile/hostile-connections.js'
import { loopbackSpellings } from '../fixtures/hostile/hostile-loopback.js'
import { blocked, outcomeOf, startSender } from '../fixtures/hostile/hostile-sender.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { buildWebhookApi, webhookInput } from '../fixtures/api/webhook-api.js'

t.test('there are 120 spellings of the loopback', async (t) => {
  t.ok(new Set(loopbackSpellings).size >= 120, `${loopbackSpellings.length} spellings`)
  t.equal(new Set(loopbackSpellings).size, loopbackSpellings.length)
})

t.test('no webhook is created with one of them, and none is changed to it', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id, target_url: target } = await create()
  for (const host of loopbackSpellings) {
    for (const url of [`https://${host}/hooks`, `https://${host}:8443/`, `HTTPS:\\\\${host}\\hooks`]) {
      const created = await call('POST', '/webhooks', { ...webhookInput, target_url: url })
      const changed = await call('PATCH', `/webhooks/${id}`, { target_url: url })
      t.same([created.status, changed.status], [400, 400], url)
    }
  }
  const { body } = await call<{ data: Array<{ target_url: string }> }>('GET', '/webhooks')
  t.same(body.data.map(({ target_url: stored }) => stored), [target])
})

t.test('the sender blocks them, and opens no connection', async (t) => {
  const receiver = await startReceiver(t)
  const sender = await startSender(t, { allowNetworks: [] })
  const connects = countConnects(t)
  for (const host of loopbackSpellings) {
    t.same(outcomeOf(await sender.post(`http://${host}:${receiver.port}/`)), blocked, host)
  }
  t.equal(connects.count, 0)
  t.same(receiver.requests, [])
})
