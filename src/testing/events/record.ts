import { benchCase, eventIds, statuses } from '../support/bench.js'
import { endedTransactions } from '../support/ended-transactions.js'
import { isInstant, rejects, same } from '../support/expect.js'
import { createEvent } from '../support/samples.js'

const records =
  'Records an event and, for every webhook of the tenant that subscribes to its type, one delivery: `pending` and due ' +
  'now if the webhook is active, `skipped` otherwise.'
const made = 'How many deliveries were made for it, skipped ones not counted.'
const again =
  'An idempotency key that the tenant has used before records nothing: the result is that of the first time, its ' +
  'fingerprint included.'
const taken =
  "Rejects for an event id that is taken, whoever's it is, and for a `transaction` that is not open, which is any in a " +
  'storage without transactions; nothing is recorded then.'
const kept = 'All or nothing, and kept once the promise resolves; with `transaction`, the host\'s own, once that commits.'
const bytes = 'The exact text to sign and send, JSON. It comes back from `claimDue` byte for byte.'
const unique = 'Unique for the tenant, or `null`.'

/** Cases about recording events. */
export const recordCases = [
  benchCase('deliveries', {
    port: 'deliveries.record',
    says: records,
    name: 'an event makes one pending delivery for each active webhook that subscribes to its type'
  }, async ({ addWebhook, emit, log, claim }) => {
    const subscribed = [await addWebhook({ event_types: ['job.created', 'candidate.created'] }), await addWebhook()]
    const unsubscribed = await addWebhook({ event_types: ['candidate.created.not', 'candidate', 'job.created'] })
    same(await emit({ fingerprint: 'print' }), { id: 'evt_1', deliveries: 2, fingerprint: 'print' }, 'what record returns')
    for (const webhook of subscribed) {
      const [delivery, ...more] = await log(webhook)
      isInstant(delivery?.created_at, 'created_at is a date as it crosses the ports')
      isInstant(delivery.next_attempt_at, 'next_attempt_at is a date as it crosses the ports')
      const { id, created_at: createdAt, next_attempt_at: nextAttemptAt } = delivery
      const counts = { attempt_count: 0, response_status: null, error: null }
      const dates = { next_attempt_at: nextAttemptAt, created_at: createdAt, delivered_at: null }
      same([delivery, ...more], [{ id, event_id: 'evt_1', event_type: 'candidate.created', status: 'pending', ...counts, ...dates }],
        'the log')
      same(createdAt >= webhook.created_at, true, 'whether the delivery was made after its webhook')
    }
    same(await log(unsubscribed), [], 'the log of a webhook that subscribes to other types')
    same((await claim()).map(({ webhookId }) => webhookId).sort((a, b) => a - b), subscribed.map(({ id }) => id),
      'what is due at once')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    says: made,
    name: 'a webhook that is not active gets a skipped delivery, which is not counted'
  }, async ({ addWebhook, emit, log, claim }) => {
    const inactive = await addWebhook({ status: 'inactive' })
    await addWebhook()
    same((await emit()).deliveries, 1, 'the deliveries counted')
    const [delivery] = await log(inactive)
    same([delivery?.status, delivery?.attempt_count, delivery?.next_attempt_at], ['skipped', 0, null],
      'the delivery to the inactive webhook')
    same((await claim()).filter(({ webhookId }) => webhookId === inactive.id), [], 'what is claimed for it')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    says: again,
    name: 'an idempotency key that was used before records nothing and gives the result of the first time'
  }, async ({ webhooks, addWebhook, emit, log }) => {
    const webhook = await addWebhook()
    const first = await emit({ idempotencyKey: 'once', fingerprint: 'first' })
    await addWebhook()
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    same(first, { id: 'evt_1', deliveries: 1, fingerprint: 'first' }, 'the result of the first time')
    same(await emit({ idempotencyKey: 'once', fingerprint: 'second' }), first,
      'the result of the second time, when the webhooks are others')
    same((await log(webhook)).length, 1, 'how many deliveries there are')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record', says: again, name: 'an event that nobody subscribes to is recorded all the same'
  }, async ({ emit }) => {
    same(await emit({ idempotencyKey: 'once' }), { id: 'evt_1', deliveries: 0, fingerprint: '' },
      'the result of the first time')
    same(await emit({ idempotencyKey: 'once' }), { id: 'evt_1', deliveries: 0, fingerprint: '' },
      'the result of the second time')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    says: unique,
    name: 'an idempotency key is unique for its tenant alone, and its absence is no key'
  }, async ({ addWebhook, emit, log }) => {
    const webhook = await addWebhook()
    const results = [
      await emit({ idempotencyKey: 'once' }), await emit({ idempotencyKey: 'ONCE' }),
      await emit({ idempotencyKey: 'once', tenantSlug: 'globex' }), await emit(), await emit()
    ]
    same(results.map(({ id }) => id), ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'],
      'the events: once, ONCE, once of globex, two without a key')
    same((await log(webhook)).length, 4, 'how many deliveries there are')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record', says: taken, name: 'an event id that is taken is refused, also for another tenant'
  }, async ({ deliveries, addWebhook, log }) => {
    const webhook = await addWebhook()
    const foreign = await addWebhook({ tenantSlug: 'globex' })
    await deliveries.record('acme', createEvent('evt_1'))
    await rejects(deliveries.record('acme', createEvent('evt_1')), 'the same id once more')
    await rejects(deliveries.record('globex', { ...createEvent('evt_1'), idempotencyKey: 'once' }), 'the same id for another tenant')
    same([(await log(webhook)).length, (await log(foreign, 'globex')).length], [1, 0],
      'how many deliveries the two tenants have')
    same((await deliveries.record('globex', { ...createEvent('evt_2'), idempotencyKey: 'once' })).id, 'evt_2',
      'the key of the event that was refused')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    says: bytes,
    name: 'the body comes back byte for byte, whatever becomes of the object handed in'
  }, async ({ deliveries, addWebhook, claimOne }) => {
    await addWebhook()
    const body = '{ "b":1,\n\t"a":"é\u{1f600} \\u0000 \u2028",  "b":2, "n":1.0, "big":12345678901234567890 }'
    const event = { ...createEvent('evt_1'), body }
    await deliveries.record('acme', event)
    event.body = 'changed'
    same((await claimOne()).body, body, 'the body that is claimed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record',
    says: kept,
    name: 'an event is kept with the host\'s transaction, or refused by a storage that has none'
  }, async ({ harness, deliveries, addWebhook, emit, claim, log }) => {
    const webhook = await addWebhook()
    if (harness.begin === undefined) {
      await rejects(deliveries.record('acme', createEvent('evt_1'), {}), 'an event with a transaction')
      same(await log(webhook), [], 'the log')
      return
    }
    const lost = await harness.begin()
    await deliveries.record('acme', { ...createEvent('evt_lost'), idempotencyKey: 'once' }, lost.transaction)
    same(eventIds(await claim()), [], 'what is claimed before the transaction ends')
    await lost.rollback()
    same([await log(webhook), eventIds(await claim())], [[], []], 'the log and what is claimed when it was rolled back')
    const done = await harness.begin()
    await deliveries.record('acme', { ...createEvent('evt_kept'), idempotencyKey: 'once' }, done.transaction)
    await done.commit()
    same((await emit({ idempotencyKey: 'once' })).id, 'evt_kept', 'the event of the key when it was committed')
    same([statuses(await log(webhook)), eventIds(await claim())], [['pending'], ['evt_kept']],
      'the log and what is claimed then')
  }),

  benchCase('deliveries', {
    port: 'deliveries.record', says: taken, name: 'an event is refused with a transaction that has ended'
  }, async ({ harness, deliveries, addWebhook, log }) => {
    const webhook = await addWebhook()
    for (const transaction of await endedTransactions(harness)) {
      await rejects(deliveries.record('acme', createEvent('evt_1'), transaction), 'an event with a transaction that has ended')
    }
    same(await log(webhook), [], 'the log')
  })
]
