import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { createWebhook } from '../../src/testing/support/samples.js'

t.test('the error names the existing webhook id', async (t) => {
  const { webhooks } = createDeliveryKit()
  await webhooks.create('acme', createWebhook(1), 50)

  await t.rejects(webhooks.create('other', createWebhook(1), 50), { message: 'webhook id 1 already exists' })
})
