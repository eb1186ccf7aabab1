import { benchCase, eventIds } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, failed } from '../support/samples.js'

/** Cases about counting what a replay would queue. */
export const countReplayCases = [
  benchCase(
    'deliveries',
    {
      port: 'deliveries.countReplay',
      name: 'the count of a replay is what the replay then queues'
    },
    async ({ addWebhook, emit, emitMany, claimAll, claimOne, recordAttempts, wait, log, countReplay, replay }) => {
      const webhook = await addWebhook({ event_types: ['candidate.created', 'job.created'] })
      await emitMany(3)
      await recordAttempts((await claimAll(3)).map((lease) => failed(lease)))
      await wait(5)
      await emit({ type: 'job.created' })
      await recordAttempts([delivered(await claimOne())])
      await emit()
      await emit({ tenantSlug: 'globex' })
      await emit({ type: 'application.created' })
      const [, , , late] = await log(webhook)

      const expected = [
        ['all at the limit', { include: 'all', limit: 4 }, 4, false],
        ['all over the limit', { include: 'all', limit: 3 }, 3, true],
        ['a type', { include: 'all', eventTypes: ['job.created'] }, 1, false],
        [
          'a type that the webhook does not subscribe to',
          { include: 'all', eventTypes: ['application.created'] },
          0,
          false
        ],
        ['ids', { include: 'all', eventIds: ['evt_2', 'evt_4', 'evt_5', 'evt_6', 'evt_999'] }, 2, false],
        ['no id', { include: 'all', eventIds: [] }, 0, false],
        ['since', { include: 'all', since: late?.created_at ?? '' }, 1, false],
        ['until', { include: 'all', until: late?.created_at ?? '' }, 4, false],
        ['undelivered', {}, 3, false]
      ] as const
      for (const [title, selection, queued, truncated] of expected) {
        same(await countReplay(webhook, selection), { queued, truncated }, `the count of ${title}`)
      }

      const steps = [{ limit: 2 }, { eventIds: ['evt_3', 'evt_4'] }, { include: 'all' }, { include: 'all' }] as const
      for (const selection of steps) {
        const counted = await countReplay(webhook, selection)
        same(
          await replay(webhook, selection),
          counted,
          `the result of a replay of ${JSON.stringify(selection)}, after its count`
        )
      }
    }
  ),

  benchCase(
    'deliveries',
    {
      port: 'deliveries.countReplay',
      name: 'counting a replay changes nothing'
    },
    async ({ deliveries, webhooks, addWebhook, emit, emitMany, claim, claimAll, recordAttempts, log, countReplay }) => {
      const webhook = await addWebhook()
      await emitMany(2)
      await recordAttempts((await claimAll(2)).map((lease) => failed(lease)))
      await emit()
      const look = async () => [
        await log(webhook),
        await webhooks.find('acme', webhook.id),
        (await deliveries.stats()).pending
      ]
      const before = await look()
      for (const time of ['first', 'second']) {
        same(await countReplay(webhook), { queued: 2, truncated: false }, `the ${time} count`)
      }
      same(await look(), before, 'the log, the webhook and the number of pending deliveries')
      same(eventIds(await claim()), ['evt_3'], 'the claimed deliveries')
    }
  ),

  benchCase(
    'deliveries',
    {
      port: 'deliveries.countReplay',
      name: 'nothing is counted for a webhook that is unknown or not active'
    },
    async ({ webhooks, addWebhook, emit, claimOne, recordAttempts, countReplay }) => {
      const webhook = await addWebhook()
      await emit()
      await recordAttempts([failed(await claimOne())])
      same(await countReplay({ ...webhook, id: webhook.id + 1000 }), null, 'the count of a webhook that does not exist')
      await webhooks.update('acme', webhook.id, { status: 'inactive' })
      same(await countReplay(webhook, { include: 'all' }), null, 'the count of a webhook that is not active')
    }
  )
]
