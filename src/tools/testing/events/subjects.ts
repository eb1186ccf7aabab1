import type { AttemptResult, SubjectDelivery, SubjectEvent } from '../../../core/ports/index.js'
import { benchCases, eventIds, followsTransaction, statuses, webhookCases } from '../support/driver.js'
import { isInstant, same } from '../support/expect.js'
import { type Attempted, delivered, failed, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')
const tenancyTest = benchCases('tenancy')

const about = { subject: 'candidate:42', tombstone: '{"erased":true}' }
const person = { ...about, body: '{"name":"Ada"}' }
const all = { after: 0, limit: 100 }

function describe ({ webhookId, webhookName, targetUrl, status }: SubjectDelivery): unknown[] {
  return [webhookId, webhookName, targetUrl, status]
}

function idsOf (events: readonly SubjectEvent[]): string[] {
  return events.map(({ eventId }) => eventId)
}

export const subjectCases = [
  // About listing the events of a subject.
  emptyTest('listSubjectEvents',
    'an event is listed by each of its subjects, and not for another tenant', async (t) => {
      await t.emit({ ...about, otherSubjects: ['job:7', 'candidate:43'] })
      await t.emit({ ...about, subject: 'job:7', tenantSlug: 'globex' })
      await t.emit({ ...about, subject: 'job:7' })
      await t.emit()
      const ids = async (subject: string, tenant = 'acme'): Promise<string[]> =>
        idsOf(await t.deliveries.listSubjectEvents(tenant, subject, all))
      same([await ids('candidate:42'), await ids('candidate:43'), await ids('job:7')],
        [['evt_1'], ['evt_1'], ['evt_1', 'evt_3']], 'the events of each subject')
      same([await ids('job:7', 'globex'), await ids('candidate:43', 'globex')], [['evt_2'], []],
        'the events of another tenant')
      same([await ids('job:'), await ids('Job:7'), await ids('job:_'), await ids('')], [[], [], [], []],
        'the events of similar subjects')
    }),

  emptyTest('listSubjectEvents',
    'pages of events with a subject contain each event once, in the order of recording', async (t) => {
      for (const subject of ['job:7', 'candidate:42', 'candidate:42', 'job:7', 'job:7']) {
        await t.emit({ ...about, subject, otherSubjects: subject === 'job:7' ? ['candidate:42'] : [] })
      }
      const seen: SubjectEvent[] = []
      for (let size = 2; size === 2 && seen.length < 10;) {
        const after = seen.at(-1)?.position ?? 0
        const page = await t.deliveries.listSubjectEvents('acme', 'candidate:42', { after, limit: 2 })
        size = page.length
        seen.push(...page)
      }
      same(idsOf(seen), ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'], 'the events of all pages')
      same(seen.map(({ position }) => position).every((position, index) => position > (seen[index - 1]?.position ?? 0)),
        true, 'whether positions ascend')
    }),

  emptyTest('listSubjectEvents',
    'an event with a subject contains its deliveries, with the time and result of each attempt', async (t) => {
      const first = await t.addWebhook({ name: 'CRM' })
      const second = await t.addWebhook({ status: 'inactive' })
      const third = await t.addWebhook({ name: 'Data lake' })
      await t.emit(about)
      const isToFirst = ({ webhookId }: { webhookId: number }): boolean => webhookId === first.id
      const leases = await t.claimAll(2)
      await t.recordAttempts(leases.map((lease) => isToFirst(lease) ? retry(lease, { retryInMs: 0 }) : failed(lease)))
      await t.complete(delivered)
      await t.emit(about)
      await t.recordAttempts((await t.claimAll(2)).filter(isToFirst).map((lease) => retry(lease)))

      const [event, other] = await t.deliveries.listSubjectEvents('acme', 'candidate:42', all)
      same([event?.eventId, event?.eventType, event?.isErased], ['evt_1', 'candidate.created', false], 'the event')
      isInstant(event?.recordedAt, 'recordedAt is an RFC 3339 date in UTC with milliseconds')
      const common = { status: 503, error: 'http_status' }
      const byWebhook = event?.deliveries.toSorted((a, b) => a.webhookId - b.webhookId)
      const attempts = byWebhook?.map((delivery) =>
        delivery.attempts.map(({ responseStatus: status, error }) => ({ status, error })))
      same(attempts, [[common, { status: 204, error: null }], [], [{ status: null, error: 'timeout' }]],
        'the attempts of each delivery')
      same(byWebhook?.map(describe), [
        [first.id, 'CRM', first.target_url, 'delivered'],
        [second.id, second.name, second.target_url, 'skipped'],
        [third.id, 'Data lake', third.target_url, 'failed']
      ], 'the deliveries')
      const [logged] = await t.log(first)
      const found = await t.deliveries.find('acme', first.id, Number(logged?.id))
      same([byWebhook?.[0]?.deliveryId, byWebhook?.[0]?.deliveredAt, byWebhook?.[2]?.deliveredAt],
        [logged?.id, logged?.delivered_at, null], 'the id and the times of delivery')
      same(byWebhook?.[0]?.attempts.map(({ startedAt }) => startedAt),
        found?.attempts.map((attempt) => attempt.started_at), 'the times of the attempts')
      const ids = event?.deliveries.map(({ deliveryId }) => deliveryId)
      same(ids, ids?.toSorted((a, b) => a - b), 'the order of the deliveries')
      const waiting = other?.deliveries.toSorted((a, b) => a.webhookId - b.webhookId)
      same(waiting?.map(({ status, attempts: made }) => [status, made.length]),
        [['pending', 1], ['skipped', 0], ['pending', 0]], 'the deliveries of an event that waits')
    }),

  test('listSubjectEvents',
    'erased events and deliveries of deleted webhooks are listed until they are pruned', async (t, { id }) => {
      await t.emit({ ...about, otherSubjects: ['job:7'] })
      await t.complete(delivered)
      await t.erase()
      await t.webhooks.delete('acme', id)
      const [event] = await t.deliveries.listSubjectEvents('acme', 'job:7', all)
      same(event?.isErased, true, 'whether the event is erased')
      same(event?.deliveries.map(describe), [[id, null, null, 'delivered']], 'its deliveries')
      await t.wait(5)
      await t.deliveries.prune({ retentionDays: 0, limit: 100 })
      same(await t.deliveries.listSubjectEvents('acme', 'job:7', all), [], 'the events after prune')
    }),

  tenancyTest('deliveries.listSubjectEvents',
    'events with a subject follow a renamed tenant and are deleted with a removed one', async (t) => {
      const count = async (tenant: string): Promise<number> =>
        (await t.deliveries.listSubjectEvents(tenant, 'job:7', all)).length
      await t.emit({ ...about, otherSubjects: ['job:7'] })
      await t.rename()
      same([await count('acme'), await count('globex'), await t.erase('job:7', 'globex')], [0, 1, 1],
        'the events under each name, and those erased')
      await t.webhooks.removeTenant('globex', { limit: 100 })
      same(await count('globex'), 0, 'the events of the removed tenant')
    }),

  // About erasing a subject.
  test('erase', 'responses to an erased event are erased, and no others', async (t, webhook) => {
    const answer = async (createResult: (lease: Attempted) => AttemptResult) => t.recordAttempts(
      (await t.claim()).map((lease) => ({ ...createResult(lease), responseExcerpt: `of ${lease.eventId}` })))
    const excerpts = async (): Promise<unknown[]> => {
      const found = await Promise.all((await t.log(webhook)).map(({ id }) => t.deliveries.find('acme', webhook.id, id)))
      return found.map((delivery) => delivery?.attempts.map(({ response_excerpt: text }) => text))
    }
    await t.emit(person)
    await t.emit()
    await answer((lease) => retry(lease, { retryInMs: 0 }))
    await answer(failed)
    await t.replay(webhook)
    await answer(retry)
    await t.emit(person)
    await answer(delivered)
    const [first, second] = [['of evt_1', 'of evt_1'], ['of evt_2', 'of evt_2']]
    same(await excerpts(), [first, second, ['of evt_1'], ['of evt_2'], ['of evt_3']], 'the excerpts before')
    await t.erase()
    same(await excerpts(), [[null, null], second, [null], ['of evt_2'], [null]], 'the excerpts afterwards')
    same(statuses(await t.log(webhook)), ['failed', 'failed', 'cancelled', 'pending', 'delivered'], 'the log')
  }),

  test('erase',
    'pending deliveries of an erased event are cancelled, including leased and waiting ones', async (t, webhook) => {
      for (const changes of [person, person, person, {}]) await t.emit(changes)
      const [lease, other] = await t.claimAll(2)
      same(await t.erase(), 3, 'the result of erase')
      same((await t.log(webhook)).map(({ status, next_attempt_at: next }) => [status, next === null]),
        [['cancelled', true], ['cancelled', true], ['cancelled', true], ['pending', false]],
        'the log: two leased, one due, one without a subject')
      same(eventIds(await t.claim()), ['evt_4'], 'the claimed deliveries')
      await t.recordAttempts([delivered(lease), retry(other, { retryInMs: 10 })])
      await t.wait(10)
      same([statuses(await t.log(webhook)), await t.claim()], [['delivered', 'cancelled', 'cancelled', 'pending'], []],
        'the log after one was delivered and one failed, and the claimed deliveries')
    }),

  test('erase', 'only events of exactly this subject and tenant are erased', async (t) => {
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.emit({ ...person, subject: 'candidate:420' })
    await t.emit({ ...person, subject: 'Candidate:42' })
    await t.emit({ ...person, tenantSlug: 'globex' })
    for (const subject of ['candidate:42', 'candidate:4%', 'candidate:42_', '']) {
      same(await t.erase(subject), 0, `the result of erasing ${subject}`)
    }
    same((await t.claim()).map(({ body }) => body), ['{"name":"Ada"}', '{"name":"Ada"}', '{"name":"Ada"}'],
      'the claimed bodies')
  }),

  test('erase', 'an event with several subjects is erased by each of them', async (t, webhook) => {
    const several = { ...person, subject: 'candidate:1', otherSubjects: ['job:7', 'candidate:2'] }
    await t.emit(several)
    await t.emit({ ...several, otherSubjects: ['job:8'] })
    await t.emit({ ...several, tenantSlug: 'globex' })
    same([await t.erase('job:7'), await t.erase('candidate:2')], [1, 1], 'the results of erase by further subjects')
    same(statuses(await t.log(webhook)), ['cancelled', 'pending'], 'the log')
    same([await t.erase('candidate:1'), await t.erase('job:7', 'globex')], [2, 1],
      'the events of the first subject, and of another tenant')
    await t.replay(webhook, { include: 'all' })
    same((await t.claim()).map(({ body }) => body), ['{"erased":true}', '{"erased":true}'], 'the claimed bodies')
  }),

  test('erase', 'a repeated erase returns the same number and cancels deliveries queued since', async (t, webhook) => {
    await t.emit(person)
    const results = [await t.deliveries.erase('acme', 'candidate:42'), await t.deliveries.erase('acme', 'candidate:42')]
    same(results, [{ events: 1, truncated: false }, { events: 1, truncated: false }], 'the results of two calls')
    await t.replay(webhook, { include: 'all' })
    same(await t.erase(), 1, 'the result of a call after a replay')
    same([statuses(await t.log(webhook)), await t.claim()], [['cancelled', 'cancelled'], []],
      'the log, and the claimed deliveries')
  }),

  test('erase',
    'erasing commits with the host\'s transaction; a storage without transactions rejects it', async (t) => {
      await t.emit(person)
      await followsTransaction(t, 'erasing', {
        write: (transaction) => t.deliveries.erase('acme', 'candidate:42', transaction),
        check: ({ events }) => same(events, 1, 'the result of erase in a transaction'),
        async look (isErased) {
          if (isErased) same((await t.deliveries.stats()).pending, 0, 'the pending deliveries after the commit')
          else same((await t.claimOne()).body, '{"name":"Ada"}', 'the claimed body')
        }
      })
    })
]
