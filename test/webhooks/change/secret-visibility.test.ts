import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'

t.test('only create and rotate_secret show a secret', async (t) => {
  const { call, drain, emit, lastDelivery, receiver, webhook } = await startDelivering(t)
  receiver.answer({ status: 500, body: 'whsec_from_the_receiver' })
  await emit()
  await drain()
  const { id } = await lastDelivery()
  const answers = [
    await call('GET', '/webhooks'),
    await call('GET', `/webhooks/${webhook.id}`),
    await call('PATCH', `/webhooks/${webhook.id}`, { name: 'New name' }),
    await call('POST', `/webhooks/${webhook.id}/dispatch_test`),
    await call('POST', `/webhooks/${webhook.id}/replay`),
    await call('GET', `/webhooks/${webhook.id}/deliveries`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/${id}`)
  ]
  for (const { status, headers, body } of answers) {
    t.ok(status < 300)
    t.notMatch(JSON.stringify([headers, body]), /"secret"|"previous_secret"|whsec_/)
  }
})
