import type { SubjectEvent } from '../../ports/index.js'
import { benchCase } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, failed, named, retry } from '../support/samples.js'

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
