import { benchCase, statuses } from '../support/bench.js'
import { endedTransactions } from '../support/ended-transactions.js'
import { rejects, same } from '../support/expect.js'
import { createEvent, delivered, retry } from '../support/samples.js'

const erases =
  'Erases what is kept about a subject: the body of each event of the tenant recorded with it becomes its tombstone, ' +
  "and the event's pending deliveries become `cancelled`."
const returns =
  'Returns how many events have that subject; a repeated call returns the same and changes nothing but deliveries queued since.'
const atomic = "All or nothing, and with `transaction`, the host's own, once that commits. … " +
  'Rejects for a `transaction` that is not open, which is any in a storage without transactions, and erases nothing then.'

const about = { subject: 'candidate:42', body: '{"name":"Ada"}', tombstone: '{"erased":true}' }

/** Cases about erasing a subject. */
export const eraseCases = [
  benchCase('deliveries', {
    port: 'deliveries.erase', says: erases, name: 'an erased event is replayed as its tombstone'
  }, async ({ deliveries, addWebhook, emit, claimOne, complete, replay, log }) => {
    const webhook = await addWebhook()
    await emit(about)
    await complete([delivered(await claimOne())])
    same(await deliveries.erase('acme', 'candidate:42'), 1, 'what erase returns')
    same(statuses(await log(webhook)), ['delivered'], 'the log')
    await replay(webhook, { include: 'all' })
    same((await claimOne()).body, '{"erased":true}', 'the body that is claimed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    says: erases,
    name: 'pending deliveries of an erased event are cancelled, leased and waiting ones too'
  }, async ({ deliveries, addWebhook, emit, claim, claimOne, complete, log }) => {
    const webhook = await addWebhook()
    await emit(about)
    await emit(about)
    await emit()
    const lease = await claimOne()
    same(await deliveries.erase('acme', 'candidate:42'), 2, 'what erase returns')
    same((await log(webhook)).map(({ status, next_attempt_at: next }) => [status, next === null]), [['cancelled', true], ['cancelled', true], ['pending', false]],
      'the log: one leased, one due, one of nobody')
    same((await claim()).map(({ eventId }) => eventId), ['evt_3'], 'what is claimed')
    await complete([delivered(lease)])
    same(statuses(await log(webhook)), ['delivered', 'cancelled', 'pending'],
      'the log when the one under way arrived all the same')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase', says: erases, name: 'a delivery whose event is erased under way is not tried again'
  }, async ({ deliveries, addWebhook, emit, claim, claimOne, complete, log, wait }) => {
    const webhook = await addWebhook()
    await emit(about)
    const lease = await claimOne()
    await deliveries.erase('acme', 'candidate:42')
    await complete([retry(lease, { retryInMs: 10 })])
    await wait(10)
    same([statuses(await log(webhook)), await claim()], [['cancelled'], []], 'the log, and what is claimed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    says: erases,
    name: 'only events of the very subject are erased, and those of the tenant alone'
  }, async ({ deliveries, addWebhook, emit, claim }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emit({ ...about, subject: 'candidate:420' })
    await emit({ ...about, subject: 'Candidate:42' })
    await emit({ ...about, tenantSlug: 'globex' })
    for (const subject of ['candidate:42', 'candidate:4%', 'candidate:42_', '']) same(await deliveries.erase('acme', subject), 0, `what erasing ${subject} returns`)
    same((await claim()).map(({ body }) => body), ['{"name":"Ada"}', '{"name":"Ada"}', '{"name":"Ada"}'],
      'the bodies that are claimed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    says: returns,
    name: 'a repeated call returns the same, and cancels what was queued since'
  }, async ({ deliveries, addWebhook, emit, claim, replay, log }) => {
    const webhook = await addWebhook()
    await emit(about)
    same([await deliveries.erase('acme', 'candidate:42'), await deliveries.erase('acme', 'candidate:42')], [1, 1],
      'what two calls return')
    await replay(webhook, { include: 'all' })
    same(await deliveries.erase('acme', 'candidate:42'), 1, 'what a call after a replay returns')
    same([statuses(await log(webhook)), await claim()], [['cancelled', 'cancelled'], []], 'the log, and what is claimed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    says: atomic,
    name: 'a subject is erased with the host\'s transaction, or not at all by a storage that has none'
  }, async ({ harness, deliveries, addWebhook, claimOne }) => {
    await addWebhook()
    await deliveries.record('acme', { ...createEvent('evt_1'), ...about })
    if (harness.begin === undefined) {
      await rejects(deliveries.erase('acme', 'candidate:42', {}), 'erasing with a transaction')
      same((await claimOne()).body, '{"name":"Ada"}', 'the body that is claimed')
      return
    }
    const lost = await harness.begin()
    same(await deliveries.erase('acme', 'candidate:42', lost.transaction), 1, 'what erase returns in a transaction')
    await lost.rollback()
    same((await claimOne({ leaseMs: 600_000 })).body, '{"name":"Ada"}', 'the body that is claimed when it was rolled back')
    const done = await harness.begin()
    await deliveries.erase('acme', 'candidate:42', done.transaction)
    await done.commit()
    same((await deliveries.stats()).pending, 0, 'what is pending when it was committed')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase', says: atomic, name: 'no subject is erased with a transaction that has ended'
  }, async ({ harness, deliveries, addWebhook, claimOne }) => {
    await addWebhook()
    await deliveries.record('acme', { ...createEvent('evt_1'), ...about })
    for (const transaction of await endedTransactions(harness)) {
      await rejects(deliveries.erase('acme', 'candidate:42', transaction), 'erasing with a transaction that has ended')
    }
    same((await claimOne()).body, '{"name":"Ada"}', 'the body that is claimed')
  })
]
