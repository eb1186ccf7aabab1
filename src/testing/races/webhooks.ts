import { atOnce, benchCase, eventIds, statuses } from '../support/driver.js'
import { same } from '../support/expect.js'
import { createWebhook } from '../support/samples.js'
import { eventually } from '../support/wait.js'

/** Cases about concurrent changes of webhooks. */
export const webhookRaceCases = [
  benchCase('races', {
    port: 'webhooks.create',
    name: 'of several concurrent creations for the last free place, exactly one succeeds'
  }, async ({ webhooks, addWebhook }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    const ids = await atOnce(6, () => webhooks.nextId('acme'))
    same(new Set(ids).size, 6, 'the number of different ids from six concurrent calls')
    const created = await Promise.all(ids.map((id) => webhooks.create('acme', createWebhook(id), 2)))
    same(created.filter((webhook) => webhook !== null).length, 1, 'the number of successes of six concurrent creations')
    same(await webhooks.count('acme', {}), 2, 'the number of webhooks with maxPerTenant 2')
  }),

  benchCase('races', {
    port: 'webhooks.update', name: 'concurrent changes of different fields are all kept'
  }, async ({ webhooks, addWebhook }) => {
    const webhook = await addWebhook()
    const changes = {
      name: 'New',
      target_url: 'https://hooks.example/new',
      event_types: ['b.c', 'a.b'],
      status: 'inactive' as const
    }
    await Promise.all([
      webhooks.update('acme', webhook.id, { name: changes.name }),
      webhooks.update('acme', webhook.id, { target_url: changes.target_url }),
      webhooks.update('acme', webhook.id, { event_types: changes.event_types }),
      webhooks.update('acme', webhook.id, { status: changes.status })
    ])
    const shown = await webhooks.find('acme', webhook.id)
    same(shown, { ...webhook, ...changes, updated_at: shown?.updated_at }, 'the webhook after four concurrent changes')
  }),

  benchCase('races', {
    port: 'webhooks.rotateSecret',
    name: 'of two concurrent rotations, the later one keeps the secret of the earlier one as the previous one'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ secret: 'a' })
    await Promise.all(['b', 'c'].map((secret) => webhooks.rotateSecret('acme', id, { secret, gracePeriodSeconds: 60 })))
    same((await webhooks.findSecrets('acme', id))?.toSorted(), ['b', 'c'], 'the secrets, in any order')
  }),

  benchCase('races', {
    port: 'webhooks.update', name: 'deliveries recorded after a webhook was made active again are not skipped'
  }, async ({ webhooks, addWebhook, emit, emitMany, claim, log }) => {
    const webhook = await addWebhook()
    await emitMany(20)
    const stopping = webhooks.update('acme', webhook.id, { status: 'inactive' })
    const isStopped = await eventually(async () => (await webhooks.find('acme', webhook.id))?.status === 'inactive')
    await webhooks.update('acme', webhook.id, { status: 'active' })
    await emit()
    await stopping
    same(
      [isStopped, eventIds(await claim())],
      [true, ['evt_21']],
      'the webhook was stopped, and the deliveries claimed afterwards'
    )
    const isShown = await eventually(
      async () => statuses(await log(webhook)).filter((status) => status === 'skipped').length === 20
    )
    same([isShown, statuses(await log(webhook)).at(-1)], [true, 'pending'], 'the log')
  }),

  benchCase('races', {
    port: 'webhooks.delete',
    name: 'of several concurrent deletions, exactly one finds the webhook'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    const deleted = await atOnce(4, () => webhooks.delete('acme', id))
    same(deleted.filter(Boolean).length, 1, 'the number of four deletions that return true')
  })
]
