import type { Webhook } from '../../ports/index.js'
import { benchCase, eventIds, statuses, type StorageDriver } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import { delivered, failed } from '../support/samples.js'

const nothing = { queued: 0, truncated: false }

// evt_1 delivered, evt_2 failed, evt_3 skipped, evt_4 pending; recorded a few milliseconds apart.
async function fill ({ webhooks, addWebhook, emit, claimOne, recordAttempts, wait }: StorageDriver): Promise<Webhook> {
  const webhook = await addWebhook()
  await emit()
  await recordAttempts([delivered(await claimOne())])
  await wait(5)
  await emit()
  await recordAttempts([failed(await claimOne())])
  await wait(5)
  await webhooks.update('acme', webhook.id, { status: 'inactive' })
  await emit()
  await webhooks.update('acme', webhook.id, { status: 'active' })
  await wait(5)
  await emit()
  return webhook
}

async function claimReplays ({ claim }: StorageDriver): Promise<string[]> {
  return eventIds(await claim()).filter((id) => id !== 'evt_4')
}

/** Cases about replays. */
export const replayCases = [
  benchCase('deliveries', {
    port: 'deliveries.replay',
    name: 'undelivered events are queued again, as new deliveries of the same events'
  }, async (driver) => {
    const webhook = await fill(driver)
    const before = await driver.log(webhook)
    same(await driver.replay(webhook), { queued: 2, truncated: false }, 'the result of replay')
    const log = await driver.log(webhook)
    same(log.slice(0, 4), before, 'the earlier deliveries')
    same(
      log
        .slice(4)
        .map(({ event_id: event, event_type: type, status, attempt_count: count }) => [event, type, status, count]),
      [
        ['evt_2', 'candidate.created', 'pending', 0],
        ['evt_3', 'candidate.created', 'pending', 0]
      ],
      'the new deliveries'
    )
    const claimed = (await driver.claim()).filter(({ eventId }) => eventId !== 'evt_4')
    same(
      claimed.map(({ eventId, body, attemptCount }) => [eventId, body, attemptCount]),
      [
        ['evt_2', '{"id":"evt_2"}', 0],
        ['evt_3', '{"id":"evt_3"}', 0]
      ],
      'the deliveries due at once'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay', name: 'pending events are not queued again, including leased ones'
  }, async (driver) => {
    const webhook = await fill(driver)
    same(await driver.replay(webhook, { include: 'all' }), { queued: 3, truncated: false },
      'a replay of all: every event but evt_4, which is pending')
    same(await driver.replay(webhook, { include: 'all' }), nothing, 'another replay')
    same(await claimReplays(driver), ['evt_1', 'evt_2', 'evt_3'], 'the claimed deliveries')
    same(await driver.replay(webhook, { include: 'all' }), nothing, 'another replay, when all are leased')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay', name: 'a replay of all events includes those recorded before the webhook was created'
  }, async ({ addWebhook, emit, replay }) => {
    await emit()
    const webhook = await addWebhook()
    same(await replay(webhook), nothing, 'a replay of undelivered events')
    same(await replay(webhook, { include: 'all' }), { queued: 1, truncated: false }, 'a replay of all events')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay', name: 'the last delivery of an event decides whether it counts as delivered'
  }, async (driver) => {
    const webhook = await fill(driver)
    await driver.replay(webhook)
    await driver.recordAttempts(
      (await driver.claim()).map((lease) => (lease.eventId === 'evt_3' ? delivered(lease) : failed(lease)))
    )
    same(await driver.replay(webhook), { queued: 2, truncated: false },
      'a replay after evt_3 was delivered, but not evt_2 and evt_4')
    same(eventIds(await driver.claim()), ['evt_2', 'evt_4'], 'the claimed deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay', name: 'the last delivery is the last one to this webhook, not to another'
  }, async ({ addWebhook, emit, claimAll, recordAttempts, replay }) => {
    const mine = await addWebhook()
    const other = await addWebhook()
    await emit()
    await recordAttempts(
      (await claimAll(2)).map((lease) => (lease.webhookId === mine.id ? delivered(lease) : failed(lease)))
    )
    same([await replay(mine), await replay(other)], [nothing, { queued: 1, truncated: false }],
      'replays to the webhook that received it, and to the one that did not')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay', name: 'events are selected by id, tenant and type'
  }, async (driver) => {
    const webhook = await fill(driver)
    const { emit, replay, webhooks } = driver
    await emit({ tenantSlug: 'globex' })
    await emit({ type: 'job.created' })
    same(await replay(webhook, { include: 'all', eventIds: ['evt_5', 'evt_6', 'evt_999'] }), nothing,
      'one of another tenant, one of another type, one that does not exist')
    same(await replay(webhook, { include: 'all', eventTypes: ['job.created'] }), nothing,
      'a type that the webhook does not subscribe to')
    same(
      [
        await replay(webhook, { include: 'all', eventTypes: [] }),
        await replay(webhook, { include: 'all', eventIds: [] })
      ],
      [nothing, nothing],
      'no type, no id'
    )
    same(
      await replay(webhook, { eventIds: ['evt_3', 'evt_1'] }),
      { queued: 1, truncated: false },
      'one skipped, one delivered'
    )
    same(await replay(webhook, { eventTypes: ['candidate.created', 'job.created'] }), { queued: 1, truncated: false },
      'the remaining events, by type')
    same(await claimReplays(driver), ['evt_3', 'evt_2'], 'the claimed deliveries')
    await webhooks.update('acme', webhook.id, { event_types: ['job.created'] })
    same(await replay(webhook, { include: 'all' }), { queued: 1, truncated: false },
      'all events, after it subscribed to the other type')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay',
    name: 'since and until are inclusive, to the millisecond that the log shows'
  }, async (driver) => {
    const webhook = await fill(driver)
    const [, { created_at: early }, { created_at: late }] = exactly(
      await driver.log(webhook),
      4,
      'deliveries in the log'
    )
    same(await driver.replay(webhook, { since: shift(late, 1) }), nothing, 'since a millisecond after evt_3')
    same(await driver.replay(webhook, { until: shift(early, -1) }), nothing, 'until a millisecond before evt_2')
    same(await driver.replay(webhook, { since: late }), { queued: 1, truncated: false }, 'since evt_3')
    same(await driver.replay(webhook, { until: early }), { queued: 1, truncated: false }, 'until evt_2')
    same(await claimReplays(driver), ['evt_3', 'evt_2'], 'the claimed deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay',
    name: 'at the limit the oldest events are queued and truncated is true'
  }, async (driver) => {
    const webhook = await fill(driver)
    same(await driver.replay(webhook, { limit: 1 }), { queued: 1, truncated: true }, 'one of two')
    same(await driver.replay(webhook, { limit: 1 }), { queued: 1, truncated: false }, 'one of one')
    same(await claimReplays(driver), ['evt_2', 'evt_3'], 'the claimed deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay', name: 'a replay to a webhook that is unknown or not active queues nothing'
  }, async (driver) => {
    const webhook = await fill(driver)
    same(await driver.replay({ ...webhook, id: webhook.id + 1000 }), null, 'a webhook that does not exist')
    await driver.webhooks.update('acme', webhook.id, { status: 'inactive' })
    same(await driver.replay(webhook, { include: 'all' }), null, 'a webhook that is not active')
    same(await driver.deliveries.count('acme', webhook.id, {}), 4, 'the number of deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.replay',
    name: 'a late success of an event that is queued again does not queue it twice'
  }, async ({ webhooks, addWebhook, emit, claimOne, replay, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emit()
    const lease = await claimOne()
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    await webhooks.update('acme', webhook.id, { status: 'active' })
    await replay(webhook)
    await recordAttempts([delivered(lease)])
    same(statuses(await log(webhook)), ['delivered', 'pending'], 'the log')
    same(await replay(webhook, { include: 'all' }), nothing, 'a replay afterwards')
  })
]

function shift (date: string, ms: number): string {
  return new Date(Date.parse(date) + ms).toISOString()
}

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
