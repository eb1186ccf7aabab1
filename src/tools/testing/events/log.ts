import type { DeliveryFilter, DeliverySortField, ListQuery } from '../../../core/ports/index.js'
import { casesWith, type StorageDriver, webhookCases } from '../support/driver.js'
import { given, same } from '../support/expect.js'
import { delivered, failed, firstRows, order, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const filledTest = casesWith(fill, 'deliveries')

// evt_1 delivered, evt_2 (job.created) failed, evt_3 (job.created) pending, recorded a little later.
async function fill ({ deliveries, addWebhook, emit, claimAll, recordAttempts, wait }: StorageDriver) {
  const { id: webhookId } = await addWebhook({ event_types: ['candidate.created', 'job.created'] })
  await emit()
  await emit({ type: 'job.created' })
  await wait(5)
  await emit({ type: 'job.created' })
  const [first, second] = await claimAll(2)
  await recordAttempts([delivered(first), failed(second)])
  return {
    webhookId,
    deliveryId: first.deliveryId,
    /** Returns the numbers of the events of a page: 1 for evt_1. */
    async list (query: Partial<ListQuery<DeliveryFilter, DeliverySortField>>): Promise<number[]> {
      const rows = await deliveries.list('acme', webhookId, { ...firstRows, ...query })
      return rows.map(({ event_id: id }) => Number(id.slice(4)))
    }
  }
}

// Text that a storage could change: control characters, escapes and letters of more than two bytes.
const hostile = '{"a":"\\u0000 \\ud800 \\\\"}\r\n\t\u0001\u007f\u2028 %_$1 \'é\u{1f600}\ufffd\ufeff'

export const logCases = [
  filledTest('list', 'the log is paged in the requested order', async (t, { list }) => {
    same(await list({}), [1, 2, 3], 'by id')
    same(await list({ sort: order('-id') }), [3, 2, 1], 'by descending id')
    same((await list({ sort: order('created_at', 'id') })).at(-1), 3, 'the last by created_at')
    same((await list({ sort: order('-created_at', 'id') }))[0], 3, 'the first by descending created_at')
    same(await list({ offset: 1, limit: 1 }), [2], 'offset 1, limit 1')
    same([await list({ offset: 3 }), await list({ offset: 429_496_729_200 })], [[], []],
      'pages beyond the last row, and far beyond')
    same(await list({ sort: order('-id'), filter: { eventType: 'job.created' }, offset: 1 }), [2],
      'offset 1 of a filtered, descending page')
  }),

  filledTest('list', 'the log is filtered by status, event type and event', async (t, { list, webhookId }) => {
    const expected: Array<[DeliveryFilter, number[]]> = [
      [{ status: 'delivered' }, [1]],
      [{ status: 'failed' }, [2]],
      [{ status: 'pending' }, [3]],
      [{ status: 'cancelled' }, []],
      [{ eventType: 'job.created' }, [2, 3]],
      [{ eventType: 'job' }, []],
      [{ eventType: '%' }, []],
      [{ eventId: 'evt_3' }, [3]],
      [{ eventId: 'EVT_3' }, []],
      [{ eventType: 'job.created', status: 'failed', eventId: 'evt_2' }, [2]],
      [{ eventType: 'job.created', status: 'failed', eventId: 'evt_3' }, []],
      [{}, [1, 2, 3]]
    ]
    for (const [filter, events] of expected) {
      same(await list({ filter }), events, `the events that pass ${JSON.stringify(filter)}`)
      same(await t.deliveries.count('acme', webhookId, filter), events.length,
        `the number of deliveries that pass ${JSON.stringify(filter)}`)
    }
  }),

  test('find', 'a delivery shows the exact body, and the tombstone once its subject is erased', async (t, webhook) => {
    const bodyOf = async (id: number | undefined): Promise<string | undefined> =>
      (await t.deliveries.find('acme', webhook.id, id ?? 0))?.body
    const sent = `{"b":1, "a":1,"a":2,"text":${JSON.stringify(hostile)}}`
    await t.emit({ subject: 'candidate:1', body: sent, tombstone: '{"erased":true}' })
    await t.emit({ subject: 'candidate:1', body: sent, tombstone: '{"erased":true}' })
    await t.complete(delivered)
    const ids = (await t.log(webhook)).map(({ id }) => id)
    same([await bodyOf(ids[0]), await bodyOf(ids[1])], [sent, sent], 'the bodies of a delivered and a pending delivery')
    await t.erase('candidate:1')
    same([await bodyOf(ids[0]), await bodyOf(ids[1])], ['{"erased":true}', '{"erased":true}'], 'the bodies afterwards')
  }),

  test('recordAttempts',
    'the excerpt of each response is stored unchanged, with any characters', async (t, { id: webhookId }) => {
      const lease = await t.leaseOne()
      const texts = [hostile, null, 'x'.repeat(4096), ' ']
      const readExcerpts = async (): Promise<unknown> => {
        const delivery = await t.deliveries.find('acme', webhookId, lease.deliveryId)
        return delivery?.attempts.map(({ response_excerpt: text }) => text)
      }
      let held = lease
      for (const [index, text] of texts.entries()) {
        const result = index === texts.length - 1 ? failed(held) : retry(held, { retryInMs: 0 })
        await t.recordAttempts([{ ...result, responseExcerpt: text }])
        same(await readExcerpts(), texts.slice(0, index + 1), `the excerpts after attempt ${index + 1}`)
        if (index < texts.length - 1) held = await t.claimOne()
      }
      const [delivery] = await t.log({ id: webhookId })
      same([delivery?.status, Object.hasOwn(delivery ?? {}, 'response_excerpt')], ['failed', false],
        'the status in the log, which shows no excerpts')
    }),

  test('recordAttempts',
    'a response is not stored if the delivery was cancelled during the attempt', async (t, { id: webhookId }) => {
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emit({ subject: 'candidate:1', tombstone: '{}' })
      await t.emit()
      const [one, two, three] = await t.claimAll(3)
      await t.erase('candidate:1')
      await t.webhooks.update('acme', webhookId, { status: 'inactive' })
      const results = [delivered(one), failed(two), failed(three)]
      await t.recordAttempts(results.map((result) => ({ ...result, responseExcerpt: 'Ada' })))
      const found = await Promise.all(results.map(({ deliveryId }) => t.deliveries.find('acme', webhookId, deliveryId)))
      same(found.map((delivery) => [delivery?.status, delivery?.attempts.map(({ response_excerpt: text }) => text)]),
        [['delivered', [null]], ['cancelled', [null]], ['skipped', ['Ada']]],
        'status and excerpts of two erased deliveries, one of which arrived, and of a skipped one')
    }),

  filledTest('find',
    'changing a returned delivery does not change the stored one', async (t, { webhookId, deliveryId }) => {
      const find = (): ReturnType<typeof t.deliveries.find> => t.deliveries.find('acme', webhookId, deliveryId)
      const before = structuredClone(await find())
      const { attempts } = given(await find(), 'find returns the delivery')
      for (const attempt of attempts) attempt.duration_ms = 999
      attempts.splice(0)
      for (const delivery of await t.deliveries.list('acme', webhookId, firstRows)) delivery.status = 'cancelled'
      same(await find(), before, 'the delivery, read again')
      same(before?.attempts.length, 1, 'the number of attempts')
    })
]
