import type { DeliveryFilter, DeliverySortField, ListQuery } from '../../ports/index.js'
import { benchCase } from '../support/bench.js'
import type { Bench } from '../support/bench.js'
import { given, same } from '../support/expect.js'
import { delivered, failed, firstRows } from '../support/samples.js'

const pages =
  'Pages through the log of one webhook; `[]` if the webhook does not exist. Only the first sort item matters, ' +
  'because ids are unique.'
const filters = 'Conditions that must all hold; an absent condition matches every row.'
const owned = 'changing them afterwards changes nothing that is stored.'

type Query = ListQuery<DeliveryFilter, DeliverySortField>

interface FilledBench {
  webhookId: number
  deliveryId: number
  /** The numbers of the events of a page: 1 for evt_1. */
  list (query: Partial<Query>): Promise<number[]>
}

// evt_1 delivered, evt_2 (job.created) failed, evt_3 (job.created) pending, recorded a little later.
async function fill ({ deliveries, addWebhook, emit, claimAll, complete, wait }: Bench): Promise<FilledBench> {
  const { id: webhookId } = await addWebhook({ event_types: ['candidate.created', 'job.created'] })
  await emit()
  await emit({ type: 'job.created' })
  await wait(5)
  await emit({ type: 'job.created' })
  const [first, second] = await claimAll(2)
  await complete([delivered(first), failed(second)])
  const list: FilledBench['list'] = async (query) =>
    (await deliveries.list('acme', webhookId, { ...firstRows, ...query })).map(({ event_id: id }) => Number(id.slice(4)))
  return { webhookId, deliveryId: first.deliveryId, list }
}

/** Cases about the log of a webhook. */
export const logCases = [
  benchCase('deliveries', {
    port: 'deliveries.list', says: pages, name: 'the log is paged in the requested order'
  }, async (bench) => {
    const { list } = await fill(bench)
    same(await list({}), [1, 2, 3], 'by id')
    same(await list({ sort: [{ field: 'id', direction: 'desc' }] }), [3, 2, 1], 'by descending id')
    same((await list({ sort: [{ field: 'created_at', direction: 'asc' }, { field: 'id', direction: 'asc' }] })).at(-1), 3,
      'the last by created_at')
    same((await list({ sort: [{ field: 'created_at', direction: 'desc' }, { field: 'id', direction: 'asc' }] }))[0], 3,
      'the first by descending created_at')
    same(await list({ offset: 1, limit: 1 }), [2], 'offset 1, limit 1')
    same([await list({ offset: 3 }), await list({ offset: 429_496_729_200 })], [[], []], 'pages beyond the last row, and far beyond')
    same(await list({ sort: [{ field: 'id', direction: 'desc' }], filter: { eventType: 'job.created' }, offset: 1 }), [2],
      'offset 1 of a filtered, descending page')
  }),

  benchCase('deliveries', {
    port: 'deliveries.list', says: filters, name: 'the log is filtered by status, event type and event'
  }, async (bench) => {
    const { list, webhookId } = await fill(bench)
    const expected: Array<[DeliveryFilter, number[]]> = [
      [{ status: 'delivered' }, [1]], [{ status: 'failed' }, [2]], [{ status: 'pending' }, [3]], [{ status: 'cancelled' }, []],
      [{ eventType: 'job.created' }, [2, 3]], [{ eventType: 'job' }, []], [{ eventType: '%' }, []],
      [{ eventId: 'evt_3' }, [3]], [{ eventId: 'EVT_3' }, []],
      [{ eventType: 'job.created', status: 'failed', eventId: 'evt_2' }, [2]],
      [{ eventType: 'job.created', status: 'failed', eventId: 'evt_3' }, []], [{}, [1, 2, 3]]
    ]
    for (const [filter, events] of expected) {
      same(await list({ filter }), events, `the events that pass ${JSON.stringify(filter)}`)
      same(await bench.deliveries.count('acme', webhookId, filter), events.length, `the number of deliveries that pass ${JSON.stringify(filter)}`)
    }
  }),

  benchCase('deliveries', {
    port: 'deliveries.find',
    says: owned,
    name: 'changing a returned delivery changes nothing that is stored'
  }, async (bench) => {
    const { webhookId, deliveryId } = await fill(bench)
    const find = (): ReturnType<typeof bench.deliveries.find> => bench.deliveries.find('acme', webhookId, deliveryId)
    const before = structuredClone(await find())
    const { attempts } = given(await find(), 'find returns the delivery')
    for (const attempt of attempts) attempt.duration_ms = 999
    attempts.splice(0)
    for (const delivery of await bench.deliveries.list('acme', webhookId, firstRows)) delivery.status = 'cancelled'
    same(await find(), before, 'the delivery, read again')
    same(before?.attempts.length, 1, 'the number of attempts')
  })
]
