import t from 'tap'
import type { DeliveryFilter, DeliverySortField, ListQuery } from '../../src/ports/index.js'
import { createDeliveryKit, delivered, failed } from './fixtures/delivery-kit.js'
import type { DeliveryKit } from './fixtures/delivery-kit.js'

const all: ListQuery<DeliveryFilter, DeliverySortField> = {
  filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200
}

const newestFirst: typeof all.sort = [{ field: 'id', direction: 'desc' }]

async function createFilledKit (): Promise<DeliveryKit & { listIds (query: Partial<typeof all>): Promise<number[]> }> {
  const kit = createDeliveryKit()
  await kit.addWebhook({ event_types: ['candidate.created', 'job.created'] })
  await kit.emit()
  await kit.emit({ type: 'job.created' })
  await kit.clock.advance(1000)
  await kit.emit({ type: 'job.created' })
  const [first, second] = await kit.claim()
  if (!first || !second) throw new Error('nothing is due')
  await kit.complete(delivered(first), failed(second))
  const listIds = async (query: Partial<typeof all>): Promise<number[]> =>
    (await kit.deliveries.list('acme', 1, { ...all, ...query })).map(({ id }) => id)
  return { ...kit, listIds }
}

t.test('the log comes in the order asked for', async (t) => {
  const { listIds } = await createFilledKit()

  t.strictSame(await listIds({}), [1, 2, 3])
  t.strictSame(await listIds({ sort: newestFirst }), [3, 2, 1])
  t.strictSame(await listIds({ sort: [{ field: 'created_at', direction: 'desc' }, ...all.sort] }), [3, 1, 2])
  t.strictSame(await listIds({ sort: [{ field: 'created_at', direction: 'asc' }, ...newestFirst] }), [2, 1, 3])
})

t.test('a page of the log is a slice of the order', async (t) => {
  const { listIds } = await createFilledKit()

  t.strictSame(await listIds({ offset: 1, limit: 1 }), [2])
  t.strictSame(await listIds({ offset: 3 }), [])
  t.strictSame(await listIds({ sort: newestFirst, filter: { eventType: 'job.created' }, offset: 1 }), [2])
})

t.test('the log is filtered by status, event type and event', async (t) => {
  const { deliveries, listIds } = await createFilledKit()
  const expected: Array<[DeliveryFilter, number[]]> = [
    [{ status: 'delivered' }, [1]],
    [{ status: 'pending' }, [3]],
    [{ status: 'cancelled' }, []],
    [{ eventType: 'job.created' }, [2, 3]],
    [{ eventType: 'job' }, []],
    [{ eventId: 'evt_3' }, [3]],
    [{ eventType: 'job.created', status: 'failed', eventId: 'evt_2' }, [2]],
    [{ eventType: 'job.created', status: 'failed', eventId: 'evt_3' }, []],
    [{}, [1, 2, 3]]
  ]
  for (const [filter, ids] of expected) {
    t.strictSame(await listIds({ filter }), ids)
    t.equal(await deliveries.count('acme', 1, filter), ids.length)
  }
})

t.test('a delivery of another webhook or tenant is one that does not exist', async (t) => {
  const { deliveries, addWebhook, emit } = await createFilledKit()
  await addWebhook()
  await addWebhook({ tenantSlug: 'other' })
  await emit({ tenantSlug: 'other' })

  t.hasStrict(await deliveries.find('acme', 1, 1), { id: 1 })
  t.hasStrict(await deliveries.find('other', 3, 4), { id: 4 })
  const strangers: Array<[string, number, number]> = [
    ['acme', 2, 1], ['other', 1, 1], ['other', 3, 1], ['acme', 1, 4],
    ['acme', 3, 4], ['nobody', 1, 1], ['acme', 1, 999], ['acme', 999, 999]
  ]
  for (const [tenantSlug, webhookId, id] of strangers) t.equal(await deliveries.find(tenantSlug, webhookId, id), null)
  for (const tenantSlug of ['other', 'nobody', '__proto__']) {
    t.strictSame(await deliveries.list(tenantSlug, 1, all), [])
    t.equal(await deliveries.count(tenantSlug, 1, {}), 0)
  }
})

t.test('changing a delivery that was handed out changes nothing in the storage', async (t) => {
  const { deliveries } = await createFilledKit()
  const before = await deliveries.find('acme', 1, 1)
  const handedOut = await deliveries.find('acme', 1, 1)
  for (const attempt of handedOut?.attempts ?? []) attempt.duration_ms = 999
  handedOut?.attempts.splice(0)
  for (const delivery of await deliveries.list('acme', 1, all)) delivery.status = 'cancelled'

  t.strictSame(await deliveries.find('acme', 1, 1), before)
  t.equal(before?.attempts.length, 1)
})
