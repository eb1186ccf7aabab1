import type { AttemptResult, SubjectEvent } from '../../ports/index.js'
import { benchCase, eventIds, statuses } from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { type Attempted, createEvent, delivered, failed, named, retry } from '../support/samples.js'
import { endedTransactions } from '../support/wait.js'

const about = { subject: 'candidate:42', tombstone: '{"erased":true}' }
const all = { after: 0, limit: 100 }
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Cases about listing the events of a subject. */
export const subjectCases = [
  benchCase('deliveries', {
    port: 'deliveries.listSubjectEvents', name: 'an event is listed by each of its subjects, and not for another tenant'
  }, async ({ deliveries, emit }) => {
    await emit({ ...about, otherSubjects: ['job:7', 'candidate:43'] })
    await emit({ ...about, subject: 'job:7', tenantSlug: 'globex' })
    await emit({ ...about, subject: 'job:7' })
    await emit()
    const ids = async (subject: string, tenant = 'acme'): Promise<string[]> =>
      idsOf(await deliveries.listSubjectEvents(tenant, subject, all))
    same(
      [await ids('candidate:42'), await ids('candidate:43'), await ids('job:7')],
      [['evt_1'], ['evt_1'], ['evt_1', 'evt_3']],
      'the events of each subject'
    )
    same(
      [await ids('job:7', 'globex'), await ids('candidate:43', 'globex')],
      [['evt_2'], []],
      'the events of another tenant'
    )
    same(
      [await ids('job:'), await ids('Job:7'), await ids('job:_'), await ids('')],
      [[], [], [], []],
      'the events of similar subjects'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.listSubjectEvents',
    name: 'pages of events with a subject have each event once, in the order of recording'
  }, async ({ deliveries, emit }) => {
    for (const subject of ['job:7', 'candidate:42', 'candidate:42', 'job:7', 'job:7']) {
      await emit({ ...about, subject, otherSubjects: subject === 'job:7' ? ['candidate:42'] : [] })
    }
    const seen: SubjectEvent[] = []
    for (let size = 2; size === 2 && seen.length < 10;) {
      const page = await deliveries.listSubjectEvents('acme', 'candidate:42', {
        after: seen.at(-1)?.position ?? 0,
        limit: 2
      })
      size = page.length
      seen.push(...page)
    }
    same(idsOf(seen), ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'], 'the events of all pages')
    same(
      seen.map(({ position }) => position).every((position, index) => position > (seen[index - 1]?.position ?? 0)),
      true,
      'whether positions ascend'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.listSubjectEvents',
    name: 'an event with a subject has its deliveries, with when and how each attempt ended'
  }, async ({ deliveries, addWebhook, emit, claimAll, claimOne, recordAttempts, log }) => {
    const first = await addWebhook({ name: 'CRM' })
    const second = await addWebhook({ status: 'inactive' })
    const third = await addWebhook({ name: 'Data lake' })
    await emit(about)
    const isToFirst = ({ webhookId }: { webhookId: number }): boolean => webhookId === first.id
    await recordAttempts(
      (await claimAll(2)).map((lease) => (isToFirst(lease) ? retry(lease, { retryInMs: 0 }) : failed(lease)))
    )
    await recordAttempts([delivered(await claimOne())])
    await emit(about)
    await recordAttempts((await claimAll(2)).filter(isToFirst).map((lease) => retry(lease)))

    const [event, other] = await deliveries.listSubjectEvents('acme', 'candidate:42', all)
    same(
      [event?.eventId, event?.eventType, event?.isErased, rfc3339.test(String(event?.recordedAt))],
      ['evt_1', 'candidate.created', false, true],
      'the event'
    )
    const common = { status: 503, error: 'http_status' }
    const byWebhook = event?.deliveries.toSorted((a, b) => a.webhookId - b.webhookId)
    const attempts = byWebhook?.map((delivery) =>
      delivery.attempts.map(({ responseStatus: status, error }) => ({ status, error }))
    )
    same(
      attempts,
      [[common, { status: 204, error: null }], [], [{ status: null, error: 'timeout' }]],
      'the attempts of each delivery'
    )
    same(
      byWebhook?.map(({ webhookId, webhookName, targetUrl, status }) => [webhookId, webhookName, targetUrl, status]),
      [
        [first.id, 'CRM', first.target_url, 'delivered'],
        [second.id, second.name, second.target_url, 'skipped'],
        [third.id, 'Data lake', third.target_url, 'failed']
      ],
      'the deliveries'
    )
    const [logged] = await log(first)
    const found = await deliveries.find('acme', first.id, Number(logged?.id))
    same(
      [byWebhook?.[0]?.deliveryId, byWebhook?.[0]?.deliveredAt, byWebhook?.[2]?.deliveredAt],
      [logged?.id, logged?.delivered_at, null],
      'the id and the times of delivery'
    )
    same(
      byWebhook?.[0]?.attempts.map(({ startedAt }) => startedAt),
      found?.attempts.map((attempt) => attempt.started_at),
      'the times of the attempts'
    )
    const ids = event?.deliveries.map(({ deliveryId }) => deliveryId)
    same(ids, ids?.toSorted((a, b) => a - b), 'the order of the deliveries')
    const waiting = other?.deliveries.toSorted((a, b) => a.webhookId - b.webhookId)
    same(
      waiting?.map(({ status, attempts: made }) => [status, made.length]),
      [
        ['pending', 1],
        ['skipped', 0],
        ['pending', 0]
      ],
      'the deliveries of an event that waits'
    )
  }),

  benchCase('deliveries', {
    port: 'deliveries.listSubjectEvents',
    name: 'erased events and deliveries of deleted webhooks are listed until they are pruned'
  }, async ({ webhooks, deliveries, addWebhook, emit, claimOne, recordAttempts, wait }) => {
    const { id } = await addWebhook()
    await emit({ ...about, otherSubjects: ['job:7'] })
    await recordAttempts([delivered(await claimOne())])
    await deliveries.erase('acme', 'candidate:42')
    await webhooks.delete('acme', id)
    const [event] = await deliveries.listSubjectEvents('acme', 'job:7', all)
    same(event?.isErased, true, 'whether the event is erased')
    same(
      event?.deliveries.map((delivery) => [
        delivery.webhookId,
        delivery.webhookName,
        delivery.targetUrl,
        delivery.status
      ]),
      [[id, null, null, 'delivered']],
      'its deliveries'
    )
    await wait(5)
    await deliveries.prune({ retentionDays: 0, limit: 100 })
    same(await deliveries.listSubjectEvents('acme', 'job:7', all), [], 'the events after prune')
  }),

  benchCase('tenancy', {
    port: 'deliveries.listSubjectEvents',
    name: 'events with a subject belong to the renamed tenant, and a removed one leaves none'
  }, async ({ webhooks, deliveries, emit }) => {
    const count = async (tenant: string): Promise<number> =>
      (await deliveries.listSubjectEvents(tenant, 'job:7', all)).length
    await emit({ ...about, otherSubjects: ['job:7'] })
    await webhooks.renameTenant(named('acme'), named('globex'), { reseal: (secret) => secret })
    same(
      [await count('acme'), await count('globex'), (await deliveries.erase('globex', 'job:7')).events],
      [0, 1, 1],
      'the events under each name, and those erased'
    )
    await webhooks.removeTenant('globex', { limit: 100 })
    same(await count('globex'), 0, 'the events of the removed tenant')
  })
]

function idsOf (events: readonly SubjectEvent[]): string[] {
  return events.map(({ eventId }) => eventId)
}

const person = { subject: 'candidate:42', body: '{"name":"Ada"}', tombstone: '{"erased":true}' }

/** Cases about erasing a subject. */
export const eraseCases = [
  benchCase('deliveries', {
    port: 'deliveries.erase', name: 'an erased event is replayed as its tombstone'
  }, async ({ deliveries, addWebhook, emit, claimOne, recordAttempts, replay, log }) => {
    const webhook = await addWebhook()
    await emit(person)
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
    await emit(person)
    await emit()
    await answer((lease) => retry(lease, { retryInMs: 0 }))
    await answer(failed)
    await replay(webhook)
    await answer(retry)
    await emit(person)
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
    await emit(person)
    await emit(person)
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
    await emit(person)
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
    await emit({ ...person, subject: 'candidate:420' })
    await emit({ ...person, subject: 'Candidate:42' })
    await emit({ ...person, tenantSlug: 'globex' })
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
    const several = { ...person, subject: 'candidate:1', otherSubjects: ['job:7', 'candidate:2'] }
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
    await emit(person)
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
    await deliveries.record('acme', { ...createEvent('evt_1'), ...person })
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
    await deliveries.record('acme', { ...createEvent('evt_1'), ...person })
    for (const transaction of await endedTransactions(harness)) {
      await rejects(deliveries.erase('acme', 'candidate:42', transaction), 'erasing with a transaction that has ended')
    }
    same((await claimOne()).body, '{"name":"Ada"}', 'the claimed body')
  })
]
