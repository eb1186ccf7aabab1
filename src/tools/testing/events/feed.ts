import type { EventFilters } from '../../../core/ports/index.js'
import { followPages, optionalCases } from '../support/driver.js'
import { given, holds, same } from '../support/expect.js'
import { delivered } from '../support/samples.js'

interface Options {
  tenantSlug?: string
  limit?: number
  eventTypes?: string[]
  filters?: EventFilters
}

/** `{"id":"evt_7"}` has the number 7. */
function readNumber (body: string): number {
  return Number(/evt_(\d+)/.exec(body)?.[1])
}

const feedCase = optionalCases('deliveries', 'feed', (driver) => {
  const { feed } = driver.harness.storage
  if (feed === undefined) return null

  /** Follows the feed of `acme`. Returns the numbers of the events, such as 1 for evt_1, and the last position. */
  const follow = async (
    start: string | null, { tenantSlug = 'acme', limit = 100, eventTypes, filters }: Options = {}
  ): Promise<{ numbers: number[], position: string }> => {
    const { items, position } = await followPages(async (after) => {
      const page = await feed.list(tenantSlug, {
        after, limit, eventTypes: eventTypes ?? null, filters: filters ?? null
      })
      return page && { ...page, items: page.bodies.map(readNumber) }
    }, start, limit)
    return { numbers: items, position }
  }

  /** Returns the first page after a position; `null` if the position is invalid. */
  const list = (after: string | null, tenantSlug = 'acme', limit = 10) =>
    feed.list(tenantSlug, { after, limit, eventTypes: null })

  return { ...driver, feed, follow, list }
})

export const feedCases = [
  feedCase('list', 'the feed of a tenant contains no events of other tenants', async (t) => {
    const { position } = await t.follow(null)
    await t.emit()
    await t.emit({ tenantSlug: 'globex' })
    same((await t.follow(null)).numbers, [1], 'the events of the first tenant')
    same((await t.follow(position)).numbers, [1], 'the same after an earlier position')
    same((await t.follow(null, { tenantSlug: 'globex' })).numbers, [2], 'the events of the other')
    same((await t.follow(null, { tenantSlug: 'nobody' })).numbers, [], 'the events of a tenant without any')
  }),

  feedCase('list', 'the feed can be filtered by event type', async (t) => {
    for (const type of ['job.created', 'candidate.created', 'job.closed', 'candidate.created', 'job.created']) {
      await t.emit({ type })
    }
    const eventTypes = ['job.created', 'job.closed']
    same((await t.follow(null, { eventTypes })).numbers, [1, 3, 5], 'the events of two types')
    const { numbers, position } = await t.follow(null, { eventTypes, limit: 1 })
    same(numbers, [1, 3, 5], 'the same in pages of one')
    await t.emitMany(2)
    same((await t.follow(position, { eventTypes })).numbers, [], 'the events after events of other types')
    same((await t.follow(null, { eventTypes: ['job.updated'] })).numbers, [], 'the events of a type without any')
  }),

  feedCase('list', 'the feed can be filtered by data', async (t) => {
    const data = ['{"job_id":7}', '{"job_id":"7"}', '{"job_id":8,"stage":"offer"}', '{}', '[7]', '{"job_id":7.0}']
    for (const [index, text] of data.entries()) {
      const type = index < 5 ? 'job.created' : 'job.closed'
      await t.emit({ type, body: `{"id":"evt_${index + 1}","data":${text}}` })
    }
    const read = async (filters: EventFilters, options: Options = {}) =>
      (await t.follow(null, { filters, ...options })).numbers
    same(await read({ 'data.job_id': [7, 8] }), [1, 3, 6], 'the events with one of two numbers')
    same(await read({ 'data.job_id': [7, 8] }, { limit: 1 }), [1, 3, 6], 'the same in pages of one')
    same(await read({ 'data.job_id': [7] }, { eventTypes: ['job.created'] }), [1], 'those of one type')
    same(await read({ 'data.job_id': ['7'] }), [2], 'the event with a text')
    same(await read({ 'data.job_id': [8], 'data.stage': ['offer'] }), [3], 'the event that matches two paths')
    same(await read({ 'data.job_id': [null] }), [4, 5], 'the events without the field')
    const { numbers, position } = await t.follow(null, { filters: { 'data.job_id': [9] } })
    await t.emit({ body: '{"id":"evt_9","data":{"job_id":9}}' })
    same([numbers, (await t.follow(position, { filters: { 'data.job_id': [9] } })).numbers], [[], [9]],
      'the events before and after the first match')
  }),

  feedCase('list', 'the feed returns exact bodies, and tombstones of erased subjects', async (t) => {
    const body = '{"id":"evt_1", "data":{"b":1.0,"a":"\\u0007\\u2028 é 漢 👩‍💻"}}'
    await t.emit({ body })
    await t.emit({ subject: 'candidate:1', tombstone: '{"id":"evt_2","erased":true}' })
    await t.erase('candidate:1')
    const page = given(await t.list(null), 'the first page')
    same(page.bodies, [body, '{"id":"evt_2","erased":true}'], 'the bodies')
  }),

  feedCase('list', 'sequences are in the order of the feed, and erasure and replay keep them', async (t) => {
    const webhook = await t.addWebhook()
    const texts = { body: '{"s":"","data":"é"}', tombstone: '{"s":"","erased":true}' }
    const event = { ...texts, sequenceAt: '{"s":"'.length, subject: 'candidate:1' }
    await Promise.all([1, 2, 3].map((n) => t.emit({ ...event, subject: `candidate:${n}` })))
    await t.emit({ ...event, tenantSlug: 'globex' })
    await t.emit(event)
    const read = async (): Promise<string[]> => {
      const claimed = await t.claim()
      await t.recordAttempts(claimed.map(delivered))
      const { bodies } = given(await t.list(null), 'the first page')
      same(claimed.map(({ body }) => body).sort(), [...bodies].sort(), 'the bodies that are sent and those of the feed')
      return bodies.map((body) => JSON.parse(body).s)
    }
    const sequences = await read()
    holds(sequences.every((text) => /^\d{16}$/.test(text)), 'sequences have 16 digits')
    same([...new Set(sequences)].sort(), sequences, 'the sequences in the order of the feed')
    await t.erase('candidate:1')
    await t.replay(webhook, { include: 'all' })
    same(await read(), sequences, 'the sequences after erasure and replay')
  }),

  feedCase('list', 'a page of the feed ends before the event whose body exceeds maxBytes', async (t) => {
    const bodies = [1, 2, 3].map((number) => JSON.stringify({ id: `evt_${number}`, data: '漢'.repeat(10) }))
    for (const body of bodies) await t.emit({ body })
    const bytes = new TextEncoder().encode(bodies.join('')).length
    const read = async (maxBytes: number, after: string | null = null, limit = 10) => {
      return given(await t.feed.list('acme', { after, limit, eventTypes: null, maxBytes }), 'a page')
    }
    const pages = [await read(bytes), await read(bytes - 1), await read(1), await read(bytes, null, 1)]
    same(pages.map(({ bodies, hasMore }) => [bodies.length, hasMore]), [[3, false], [2, true], [1, true], [1, true]],
      'the lengths of four pages')
    same((await read(1, pages[1]?.position)).bodies, bodies.slice(2), 'the page after two events')
  }),

  feedCase('endBefore', 'endBefore returns the position before the first event since a time', async (t) => {
    const from = async (since: string) => (await t.follow(await t.feed.endBefore('acme', since))).numbers
    await t.emitMany(2)
    await t.emit({ tenantSlug: 'globex' })
    await t.wait(20)
    await t.emit()
    const webhook = await t.addWebhook()
    await t.emit()
    const [delivery] = await t.log(webhook)
    const since = given(delivery, 'the delivery of the last event').created_at
    holds((await from(since)).includes(5), 'the event of this time is listed')
    same(await from('2001-01-01T00:00:00.000Z'), [1, 2, 4, 5], 'the events since long ago')
    same(await from('9999-01-01T00:00:00.000Z'), [], 'the events since a later time')
    holds(!(await from(since)).includes(2), 'an earlier event is not listed')
    const { position } = await t.follow(null)
    same(await t.feed.endBefore('acme', '2001-01-01T00:00:00.000Z', position), position, 'a later position')
    await t.deliveries.prune({ retentionDays: 0, limit: 2 })
    holds((await from('2001-01-01T00:00:00.000Z')).includes(5), 'the events after those that were pruned')
  }),

  feedCase('find', 'a tenant finds its event by id until it is pruned', async (t) => {
    const body = '{"id":"evt_1", "data":1.0}'
    await t.emit({ body })
    await t.emit({ subject: 'candidate:1', tombstone: '{"erased":true}' })
    await t.erase('candidate:1')
    same(await Promise.all(['evt_1', 'evt_2', 'evt_3', ''].map((id) => t.feed.find('acme', id))),
      [body, '{"erased":true}', null, null], 'the bodies of four ids')
    same(await t.feed.find('globex', 'evt_1'), null, 'the event of another tenant')
    same(await Promise.all(['evt_1', 'evt_3'].map((id) => t.feed.find('acme', id, { omitBody: true }))), ['', null],
      'an event and an unknown id, without bodies')
    await t.wait(20)
    await t.deliveries.prune({ retentionDays: 0, limit: 10 })
    same(await t.feed.find('acme', 'evt_1'), null, 'the event once it is pruned')
  }),

  feedCase('list', 'an old event kept for its delivery does not invalidate positions of the feed', async (t) => {
    await t.addWebhook({ event_types: ['job.created'] })
    await t.emit({ type: 'job.created' })
    await t.emit()
    await t.wait(20)
    await t.deliveries.prune({ retentionDays: 0, limit: 10 })
    await t.emit()
    await t.emit()
    const first = given(await t.list(null, 'acme', 1), 'the first page')
    same((await t.follow(first.position)).numbers.at(-1), 4, 'the last event after the first page')
  }),

  feedCase('latest', 'latest returns the newest events of some types first', async (t) => {
    for (const type of ['job.created', 'candidate.created', 'job.closed', 'job.created', 'candidate.created']) {
      await t.emit({ type })
    }
    await t.emit({ tenantSlug: 'globex' })
    const read = async (limit: number, eventTypes: string[] | null) =>
      (await t.feed.latest('acme', { limit, eventTypes })).map(readNumber)
    same(await read(2, ['job.created', 'job.closed']), [4, 3], 'the newest two of two types')
    same(await read(10, null), [5, 4, 3, 2, 1], 'all of the tenant')
    same(await read(10, ['job.updated']), [], 'a type without events')
  }),

  feedCase('webhooks.renameTenant', 'a renamed tenant keeps its events in the feed', async (t) => {
    await t.emitMany(3)
    await t.rename()
    await t.emit({ tenantSlug: 'globex' })
    same((await t.follow(null, { tenantSlug: 'globex', limit: 1 })).numbers, [1, 2, 3, 4], 'the events of the new name')
    same((await t.follow(null)).numbers, [], 'the events of the old name')
  }),

  feedCase('webhooks.removeTenant', 'a removed tenant leaves nothing in the feed of a new tenant', async (t) => {
    await t.emitMany(2)
    await t.remove()
    await t.emit()
    same((await t.follow(null)).numbers, [3], 'the events of the later tenant')
  })
]
