import { benchCase, eventIds, statuses } from '../support/driver.js'
import { endedTransactions } from '../support/wait.js'
import { isInstant, rejects, same } from '../support/expect.js'
import { createEvent, delivered } from '../support/samples.js'

/** Cases about recording events. */
export const recordCases = [
  benchCase('deliveries', {
    port: 'deliveries.record', name: 'a claim has the trace of its event, also for a replay'
  }, async ({ addWebhook, emit, claim, claimOne, recordAttempts, replay }) => {
    const webhook = await addWebhook()
    const traceParent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await emit({ traceParent, idempotencyKey: 'once' })
    await emit({ traceParent })
    await emit({ traceParent: null })
    const claimed = await claim()
    same(
      claimed.map((delivery) => delivery.traceParent),
      [traceParent, traceParent, null],
      'the traces of the claimed deliveries'
    )
    await recordAttempts(claimed.map(delivered))
    await replay(webhook, { include: 'all', limit: 1 })
    same((await claimOne()).traceParent, traceParent, 'the trace of a replay')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    name: 'an event creates one pending delivery for each active webhook that subscribes to its type'
  }, async ({ addWebhook, emit, log, claim }) => {
    const subscribed = [await addWebhook({ event_types: ['job.created', 'candidate.created'] }), await addWebhook()]
    const unsubscribed = await addWebhook({ event_types: ['candidate.created.not', 'candidate', 'job.created'] })
    same(
      await emit({ fingerprint: 'print' }),
      { id: 'evt_1', deliveries: 2, fingerprint: 'print' },
      'the result of record'
    )
    for (const webhook of subscribed) {
      const [delivery, ...more] = await log(webhook)
      isInstant(delivery?.created_at, 'created_at is an RFC 3339 date in UTC with milliseconds')
      isInstant(delivery.next_attempt_at, 'next_attempt_at is an RFC 3339 date in UTC with milliseconds')
      const { id, created_at: createdAt, next_attempt_at: nextAttemptAt } = delivery
      const counts = { attempt_count: 0, response_status: null, error: null }
      const dates = { next_attempt_at: nextAttemptAt, created_at: createdAt, delivered_at: null }
      same(
        [delivery, ...more],
        [{ id, event_id: 'evt_1', event_type: 'candidate.created', status: 'pending', ...counts, ...dates }],
        'the log'
      )
      same(createdAt >= webhook.created_at, true, 'the delivery was created after its webhook')
    }
    same(await log(unsubscribed), [], 'the log of a webhook that subscribes to other types')
    same((await claim()).map(({ webhookId }) => webhookId).sort((a, b) => a - b), subscribed.map(({ id }) => id),
      'the deliveries due at once')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    name: 'a webhook that is not active gets a skipped delivery, which is not counted'
  }, async ({ addWebhook, emit, log, claim }) => {
    const inactive = await addWebhook({ status: 'inactive' })
    await addWebhook()
    same((await emit()).deliveries, 1, 'the deliveries counted')
    const [delivery] = await log(inactive)
    same([delivery?.status, delivery?.attempt_count, delivery?.next_attempt_at], ['skipped', 0, null],
      'the delivery to the inactive webhook')
    same((await claim()).filter(({ webhookId }) => webhookId === inactive.id), [], 'the deliveries claimed for it')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    name: 'a repeated idempotency key records nothing and returns the first result'
  }, async ({ webhooks, addWebhook, emit, log }) => {
    const webhook = await addWebhook()
    const first = await emit({ idempotencyKey: 'once', fingerprint: 'first' })
    await addWebhook()
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    same(first, { id: 'evt_1', deliveries: 1, fingerprint: 'first' }, 'the result of the first call')
    same(await emit({ idempotencyKey: 'once', fingerprint: 'second' }), first,
      'the result of the second call, after the webhooks have changed')
    same((await log(webhook)).length, 1, 'the number of deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record', name: 'an event without subscribers is recorded'
  }, async ({ emit }) => {
    same(await emit({ idempotencyKey: 'once' }), { id: 'evt_1', deliveries: 0, fingerprint: '' },
      'the result of the first call')
    same(await emit({ idempotencyKey: 'once' }), { id: 'evt_1', deliveries: 0, fingerprint: '' },
      'the result of the second call')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    name: 'an idempotency key is unique within its tenant, and events without a key never collide'
  }, async ({ addWebhook, emit, log }) => {
    const webhook = await addWebhook()
    const results = [
      await emit({ idempotencyKey: 'once' }), await emit({ idempotencyKey: 'ONCE' }),
      await emit({ idempotencyKey: 'once', tenantSlug: 'globex' }), await emit(), await emit()
    ]
    same(results.map(({ id }) => id), ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'],
      'the events: once, ONCE, once of globex, two without a key')
    same((await log(webhook)).length, 4, 'the number of deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record', name: 'record rejects an event id that exists, also in another tenant'
  }, async ({ deliveries, addWebhook, log }) => {
    const webhook = await addWebhook()
    const foreign = await addWebhook({ tenantSlug: 'globex' })
    await deliveries.record('acme', createEvent('evt_1'))
    await rejects(deliveries.record('acme', createEvent('evt_1')), 'the same id again')
    await rejects(
      deliveries.record('globex', { ...createEvent('evt_1'), idempotencyKey: 'once' }),
      'the same id for another tenant'
    )
    same([(await log(webhook)).length, (await log(foreign, 'globex')).length], [1, 0],
      'the number of deliveries of both tenants')
    same((await deliveries.record('globex', { ...createEvent('evt_2'), idempotencyKey: 'once' })).id, 'evt_2',
      'the event recorded with the key of the rejected one')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    name: 'the body is returned byte for byte, even if the caller changes the event object'
  }, async ({ deliveries, addWebhook, claimOne }) => {
    await addWebhook()
    const body = '{ "b":1,\n\t"a":"é\u{1f600} \\u0000 \u2028",  "b":2, "n":1.0, "big":12345678901234567890 }'
    const event = { ...createEvent('evt_1'), body }
    await deliveries.record('acme', event)
    event.body = 'changed'
    same((await claimOne()).body, body, 'the claimed body')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    name: 'an event commits with the host\'s transaction, or is rejected by a storage without transactions'
  }, async ({ harness, deliveries, addWebhook, emit, claim, log }) => {
    const webhook = await addWebhook()
    if (harness.begin === undefined) {
      await rejects(deliveries.record('acme', createEvent('evt_1'), {}), 'an event with a transaction')
      same(await log(webhook), [], 'the log')
      return
    }
    const lost = await harness.begin()
    await deliveries.record('acme', { ...createEvent('evt_lost'), idempotencyKey: 'once' }, lost.transaction)
    same(eventIds(await claim()), [], 'the claimed deliveries before the transaction ends')
    await lost.rollback()
    same([await log(webhook), eventIds(await claim())], [[], []], 'the log and the claimed deliveries after a rollback')
    const done = await harness.begin()
    await deliveries.record('acme', { ...createEvent('evt_kept'), idempotencyKey: 'once' }, done.transaction)
    await done.commit()
    same((await emit({ idempotencyKey: 'once' })).id, 'evt_kept', 'the event with this key after the commit')
    same([statuses(await log(webhook)), eventIds(await claim())], [['pending'], ['evt_kept']],
      'the log and the claimed deliveries afterwards')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record', name: 'record rejects a transaction that has ended'
  }, async ({ harness, deliveries, addWebhook, log }) => {
    const webhook = await addWebhook()
    for (const transaction of await endedTransactions(harness)) {
      await rejects(
        deliveries.record('acme', createEvent('evt_1'), transaction),
        'an event with a transaction that has ended'
      )
    }
    same(await log(webhook), [], 'the log')
  })
]
