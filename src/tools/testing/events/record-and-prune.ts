import { benchCases, eventIds, followsTransaction, statuses, webhookCases } from '../support/driver.js'
import { isInstant, rejects, same } from '../support/expect.js'
import { createEvent, delivered, failed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')

const everything = { retentionDays: 0, limit: 100 }
const monthly = { retentionDays: 30, limit: 100 }

export const recordAndPruneCases = [
  // About recording events.
  test('record', 'a claim contains the trace of its event, even for a replay', async (t, webhook) => {
    const traceParent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await t.emit({ traceParent, idempotencyKey: 'once' })
    await t.emit({ traceParent })
    await t.emit({ traceParent: null })
    const claimed = await t.claim()
    same(claimed.map((delivery) => delivery.traceParent), [traceParent, traceParent, null],
      'the traces of the claimed deliveries')
    await t.recordAttempts(claimed.map(delivered))
    await t.replay(webhook, { include: 'all', limit: 1 })
    same((await t.claimOne()).traceParent, traceParent, 'the trace of a replay')
  }),

  emptyTest('record',
    'an event creates one pending delivery for each active webhook that subscribes to its type', async (t) => {
      const first = await t.addWebhook({ event_types: ['job.created', 'candidate.created'] })
      const subscribed = [first, await t.addWebhook()]
      const unsubscribed = await t.addWebhook({ event_types: ['candidate.created.not', 'candidate', 'job.created'] })
      same(await t.emit({ fingerprint: 'print' }), { id: 'evt_1', deliveries: 2, fingerprint: 'print' },
        'the result of record')
      for (const webhook of subscribed) {
        const [delivery, ...more] = await t.log(webhook)
        isInstant(delivery?.created_at, 'created_at is an RFC 3339 date in UTC with milliseconds')
        isInstant(delivery.next_attempt_at, 'next_attempt_at is an RFC 3339 date in UTC with milliseconds')
        const { id, created_at: createdAt, next_attempt_at: nextAttemptAt } = delivery
        const counts = { attempt_count: 0, response_status: null, error: null, detail: null }
        const dates = { next_attempt_at: nextAttemptAt, created_at: createdAt, delivered_at: null }
        same([delivery, ...more],
          [{ id, event_id: 'evt_1', event_type: 'candidate.created', status: 'pending', ...counts, ...dates }],
          'the log')
        same(createdAt >= webhook.created_at, true, 'the delivery was created after its webhook')
      }
      same(await t.log(unsubscribed), [], 'the log of a webhook that subscribes to other types')
      same((await t.claim()).map(({ webhookId }) => webhookId).sort((a, b) => a - b), subscribed.map(({ id }) => id),
        'the deliveries due at once')
    }),

  test('record', 'a repeated idempotency key records nothing and returns the first result', async (t, webhook) => {
    const first = await t.emit({ idempotencyKey: 'once', fingerprint: 'first' })
    await t.addWebhook()
    await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
    same(first, { id: 'evt_1', deliveries: 1, fingerprint: 'first' }, 'the result of the first call')
    same(await t.emit({ idempotencyKey: 'once', fingerprint: 'second' }), first,
      'the result of the second call, after the webhooks have changed')
    same((await t.log(webhook)).length, 1, 'the number of deliveries')
  }),

  test('record',
    'an idempotency key is unique within its tenant, and events without a key never collide', async (t, webhook) => {
      const results = [
        await t.emit({ idempotencyKey: 'once' }), await t.emit({ idempotencyKey: 'ONCE' }),
        await t.emit({ idempotencyKey: 'once', tenantSlug: 'globex' }), await t.emit(), await t.emit()
      ]
      same(results.map(({ id }) => id), ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'],
        'the events: once, ONCE, once of globex, two without a key')
      same((await t.log(webhook)).length, 4, 'the number of deliveries')
    }),

  test('record', 'record rejects an existing event id, even of another tenant', async (t, webhook) => {
    const foreign = await t.addWebhook({ tenantSlug: 'globex' })
    await t.deliveries.record('acme', createEvent('evt_1'))
    await rejects(t.deliveries.record('acme', createEvent('evt_1')), 'the same id again')
    await rejects(t.deliveries.record('globex', { ...createEvent('evt_1'), idempotencyKey: 'once' }),
      'the same id for another tenant')
    same([(await t.log(webhook)).length, (await t.log(foreign, 'globex')).length], [1, 0],
      'the number of deliveries of both tenants')
    same((await t.deliveries.record('globex', { ...createEvent('evt_2'), idempotencyKey: 'once' })).id, 'evt_2',
      'the event recorded with the key of the rejected one')
  }),

  test('record', 'the body is returned byte for byte, even if the caller changes the event object', async (t) => {
    const body = '{ "b":1,\n\t"a":"é\u{1f600} \\u0000 \u2028",  "b":2, "n":1.0, "big":12345678901234567890 }'
    const event = { ...createEvent('evt_1'), body }
    await t.deliveries.record('acme', event)
    event.body = 'changed'
    same((await t.claimOne()).body, body, 'the claimed body')
  }),

  test('record',
    'an event commits with the host\'s transaction; a storage without transactions rejects it',
    async (t, webhook) => {
      const read = async () => [statuses(await t.log(webhook)), eventIds(await t.claim())]
      await followsTransaction(t, 'an event', {
        write: (transaction) =>
          t.deliveries.record('acme', { ...createEvent('evt_kept'), idempotencyKey: 'once' }, transaction),
        async check ({ id, deliveries }) {
          same([id, deliveries], ['evt_kept', 1], 'the id and the deliveries of the event in the transaction')
          same(await read(), [[], []], 'the log and the claimed deliveries in the transaction')
        },
        async look (isWritten) {
          if (isWritten) same((await t.emit({ idempotencyKey: 'once' })).id, 'evt_kept', 'the event with this key')
          same(await read(), isWritten ? [['pending'], ['evt_kept']] : [[], []],
            'the log and the claimed deliveries afterwards')
        }
      })
    }),

  // About deleting old events and deliveries.
  test('prune', 'ended deliveries are deleted after the retention period, not before', async (t, webhook) => {
    const inactive = await t.addWebhook({ status: 'inactive' })
    const [first, second] = await t.lease(2)
    await t.recordAttempts([delivered(first), failed(second)])
    await t.wait(5)
    same([await t.deliveries.prune(monthly), (await t.log(webhook)).length], [0, 2],
      'the number deleted with a retention of 30 days, and the number left')
    same([await t.deliveries.prune(everything), await t.deliveries.prune(everything)], [6, 0],
      'the numbers deleted by two calls without retention: two deliveries of each webhook and two events, then none')
    same([await t.log(webhook), await t.log(inactive), await t.deliveries.count('acme', webhook.id, {})], [[], [], 0],
      'the logs')
    same(await t.deliveries.find('acme', webhook.id, first.deliveryId), null, 'a deleted delivery')
  }),

  test('prune', 'a pending delivery and its event are kept', async (t, webhook) => {
    await t.emitMany(3)
    await t.complete(retry)
    await t.claimOne({ leaseMs: 10 })
    await t.wait(10)
    same([await t.deliveries.prune(everything), statuses(await t.log(webhook))], [0, ['pending', 'pending', 'pending']],
      'the number deleted, and the log')
    same((await t.claim()).map(({ body }) => body), ['{"id":"evt_2"}', '{"id":"evt_3"}'], 'the claimed deliveries')
  }),

  test('prune',
    'an event is kept while it has a delivery, and its idempotency key is deleted with it', async (t, webhook) => {
      await t.emit({ idempotencyKey: 'once' })
      await t.complete(delivered)
      await t.replay(webhook, { include: 'all' })
      await t.wait(5)
      same([await t.deliveries.prune(everything), (await t.emit({ idempotencyKey: 'once' })).id], [1, 'evt_1'],
        'the number deleted while a replay is pending, and the event with the key')
      await t.complete(delivered)
      same([await t.deliveries.prune(everything), (await t.emit({ idempotencyKey: 'once' })).id], [2, 'evt_3'],
        'the number deleted after it has ended, and the event with the key')
    }),

  test('prune',
    'a newer delivery of an event remains the last one after an older one is deleted', async (t, webhook) => {
      await t.attempt(failed)
      await t.replay(webhook)
      await t.wait(5)
      same(await t.deliveries.prune(everything), 1, 'the number deleted while a replay is pending')
      same(await t.replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'another replay')
      await t.complete(failed)
      same(await t.replay(webhook), { queued: 1, truncated: false }, 'another replay, when the first one failed')
    }),

  test('prune', 'pruning in batches respects the limit and finally deletes everything', async (t, webhook) => {
    await t.recordAttempts((await t.lease(5)).map(delivered))
    await t.emitMany(3, { type: 'job.created' })
    await t.wait(5)
    const counts: number[] = []
    for (let i = 0; i < 20 && counts.at(-1) !== 0; i++) {
      counts.push(await t.deliveries.prune({ retentionDays: 0, limit: 2 }))
    }
    same(counts.reduce((sum, count) => sum + count, 0), 13, `the total deleted in batches of ${counts.join(', ')}`)
    same(counts.filter((count) => count > 4), [], 'the batches of more than two deliveries and two events')
    same([counts.at(-1), await t.log(webhook)], [0, []], 'the last batch, and the log')
  }),

  emptyTest('prune', 'events without deliveries are deleted, including those of a deleted webhook', async (t) => {
    await t.emitMany(1)
    const { id } = await t.addWebhook()
    await t.emitMany(1)
    await t.webhooks.delete('acme', id)
    await t.wait(5)
    let count = 0
    for (let i = 0; i < 3; i++) count += await t.deliveries.prune(everything)
    same([count >= 2, await t.deliveries.prune(everything)], [true, 0],
      'both events were deleted, and the number deleted next')
    const webhook = await t.addWebhook()
    same(await t.replay(webhook, { include: 'all' }), { queued: 0, truncated: false }, 'a replay of all events')
  })
]
