import type { AttemptResult } from '../../ports/index.js'
import { benchCase, eventIds, statuses } from '../support/driver.js'
import { endedTransactions } from '../support/wait.js'
import { rejects, same } from '../support/expect.js'
import { type Attempted, createEvent, delivered, failed, retry } from '../support/samples.js'

const about = { subject: 'candidate:42', body: '{"name":"Ada"}', tombstone: '{"erased":true}' }

/** Cases about erasing a subject. */
export const eraseCases = [
  benchCase('deliveries', {
    port: 'deliveries.erase', name: 'an erased event is replayed as its tombstone'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, replay, log }) => {
    const webhook = await addWebhook()
    await emit(about)
    await recordAttempts([delivered(await claimOne())])
    same((await deliveries.erase('acme', 'candidate:42')).events, 1, 'the result of erase')
    same(statuses(await log(webhook)), ['delivered'], 'the log')
    await replay(webhook, { include: 'all' })
    same((await claimOne()).body, '{"erased":true}', 'the claimed body')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase', name: 'responses to an erased event are erased, and no others'
  }, async ({ deliveries, addWebhook, emit, claim, recordAttempts, log, replay }) => {
    const webhook = await addWebhook()
    const answer = async (createResult: (lease: Attempted) => AttemptResult): Promise<void> => {
      await recordAttempts(
        (await claim()).map((lease) => ({ ...createResult(lease), responseExcerpt: `of ${lease.eventId}` }))
      )
    }
    const excerpts = async (): Promise<unknown[]> => {
      const found = await Promise.all((await log(webhook)).map(({ id }) => deliveries.find('acme', webhook.id, id)))
      return found.map((delivery) => delivery?.attempts.map(({ response_excerpt: text }) => text))
    }
    await emit(about)
    await emit()
    await answer((lease) => retry(lease, { retryInMs: 0 }))
    await answer(failed)
    await replay(webhook)
    await answer(retry)
    await emit(about)
    await answer(delivered)
    const [first, second] = [['of evt_1', 'of evt_1'], ['of evt_2', 'of evt_2']]
    same(await excerpts(), [first, second, ['of evt_1'], ['of evt_2'], ['of evt_3']], 'the excerpts before')
    await deliveries.erase('acme', 'candidate:42')
    same(await excerpts(), [[null, null], second, [null], ['of evt_2'], [null]], 'the excerpts afterwards')
    same(statuses(await log(webhook)), ['failed', 'failed', 'cancelled', 'pending', 'delivered'], 'the log')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    name: 'pending deliveries of an erased event are cancelled, including leased and waiting ones'
  }, async ({ deliveries, addWebhook, emit, claim, claimOne, recordAttempts, log }) => {
    const webhook = await addWebhook()
    await emit(about)
    await emit(about)
    await emit()
    const lease = await claimOne()
    same((await deliveries.erase('acme', 'candidate:42')).events, 2, 'the result of erase')
    same(
      (await log(webhook)).map(({ status, next_attempt_at: next }) => [status, next === null]),
      [
        ['cancelled', true],
        ['cancelled', true],
        ['pending', false]
      ],
      'the log: one leased, one due, one without a subject'
    )
    same(eventIds(await claim()), ['evt_3'], 'the claimed deliveries')
    await recordAttempts([delivered(lease)])
    same(statuses(await log(webhook)), ['delivered', 'cancelled', 'pending'],
      'the log after the leased one was delivered')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase', name: 'a delivery whose event is erased during the attempt is not retried'
  }, async ({ deliveries, addWebhook, emit, claim, claimOne, recordAttempts, log, wait }) => {
    const webhook = await addWebhook()
    await emit(about)
    const lease = await claimOne()
    await deliveries.erase('acme', 'candidate:42')
    await recordAttempts([retry(lease, { retryInMs: 10 })])
    await wait(10)
    same([statuses(await log(webhook)), await claim()], [['cancelled'], []], 'the log, and the claimed deliveries')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    name: 'only events of exactly this subject and tenant are erased'
  }, async ({ deliveries, addWebhook, emit, claim }) => {
    await addWebhook()
    await addWebhook({ tenantSlug: 'globex' })
    await emit({ ...about, subject: 'candidate:420' })
    await emit({ ...about, subject: 'Candidate:42' })
    await emit({ ...about, tenantSlug: 'globex' })
    for (const subject of ['candidate:42', 'candidate:4%', 'candidate:42_', '']) {
      same((await deliveries.erase('acme', subject)).events, 0, `the result of erasing ${subject}`)
    }
    same((await claim()).map(({ body }) => body), ['{"name":"Ada"}', '{"name":"Ada"}', '{"name":"Ada"}'],
      'the claimed bodies')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase', name: 'an event with several subjects is erased by each of them'
  }, async ({ deliveries, addWebhook, emit, log, replay, claim }) => {
    const webhook = await addWebhook()
    const several = { ...about, subject: 'candidate:1', otherSubjects: ['job:7', 'candidate:2'] }
    await emit(several)
    await emit({ ...several, otherSubjects: ['job:8'] })
    await emit({ ...several, tenantSlug: 'globex' })
    same(
      [(await deliveries.erase('acme', 'job:7')).events, (await deliveries.erase('acme', 'candidate:2')).events],
      [1, 1],
      'the results of erase by further subjects'
    )
    same(statuses(await log(webhook)), ['cancelled', 'pending'], 'the log')
    same(
      [(await deliveries.erase('acme', 'candidate:1')).events, (await deliveries.erase('globex', 'job:7')).events],
      [2, 1],
      'the events of the first subject, and of another tenant'
    )
    await replay(webhook, { include: 'all' })
    same((await claim()).map(({ body }) => body), ['{"erased":true}', '{"erased":true}'], 'the claimed bodies')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    name: 'a repeated erase returns the same number and cancels deliveries queued since'
  }, async ({ deliveries, addWebhook, emit, claim, replay, log }) => {
    const webhook = await addWebhook()
    await emit(about)
    const results = [await deliveries.erase('acme', 'candidate:42'), await deliveries.erase('acme', 'candidate:42')]
    same(results, [{ events: 1, truncated: false }, { events: 1, truncated: false }],
      'the results of two calls')
    await replay(webhook, { include: 'all' })
    same((await deliveries.erase('acme', 'candidate:42')).events, 1, 'the result of a call after a replay')
    same(
      [statuses(await log(webhook)), await claim()],
      [['cancelled', 'cancelled'], []],
      'the log, and the claimed deliveries'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase',
    name: 'erasing commits with the host\'s transaction, or is rejected by a storage without transactions'
  }, async ({ harness, deliveries, addWebhook, claimOne }) => {
    await addWebhook()
    await deliveries.record('acme', { ...createEvent('evt_1'), ...about })
    if (harness.begin === undefined) {
      await rejects(deliveries.erase('acme', 'candidate:42', {}), 'erasing with a transaction')
      same((await claimOne()).body, '{"name":"Ada"}', 'the claimed body')
      return
    }
    const lost = await harness.begin()
    same((await deliveries.erase('acme', 'candidate:42', lost.transaction)).events, 1,
      'the result of erase in a transaction')
    await lost.rollback()
    same((await claimOne({ leaseMs: 600_000 })).body, '{"name":"Ada"}', 'the claimed body after a rollback')
    const done = await harness.begin()
    await deliveries.erase('acme', 'candidate:42', done.transaction)
    await done.commit()
    same((await deliveries.stats()).pending, 0, 'the number of pending deliveries after the commit')
  }),

  benchCase('deliveries', {
    port: 'deliveries.erase', name: 'erase rejects a transaction that has ended'
  }, async ({ harness, deliveries, addWebhook, claimOne }) => {
    await addWebhook()
    await deliveries.record('acme', { ...createEvent('evt_1'), ...about })
    for (const transaction of await endedTransactions(harness)) {
      await rejects(deliveries.erase('acme', 'candidate:42', transaction), 'erasing with a transaction that has ended')
    }
    same((await claimOne()).body, '{"name":"Ada"}', 'the claimed body')
  })
]
