import type { EventFeed } from '../../ports/index.js'
import type { CaseHead, StorageCase } from '../support/case.js'
import { type StorageDriver, benchCase } from '../support/driver.js'
import { given, holds, same } from '../support/expect.js'
import { createWebhook, firstRows, named } from '../support/samples.js'

interface Options {
  tenantSlug?: string
  limit?: number
  eventTypes?: string[]
}

interface FeedDriver extends StorageDriver {
  feed: EventFeed
  /**
   * Follows the feed of `acme` after a position to the end, and returns the numbers of the events, 1 for evt_1, and
   * the last position.
   */
  follow (after: string | null, options?: Options): Promise<{ numbers: number[], position: string }>
}

/** Creates a case that passes on a storage without a feed. */
function feedCase (head: CaseHead, body: (driver: FeedDriver) => Promise<void>): StorageCase {
  return benchCase('deliveries', head, async (driver) => {
    const { feed } = driver.harness.storage
    if (feed === undefined) return
    await body({
      ...driver,
      feed,
      async follow (after, { tenantSlug = 'acme', limit = 100, eventTypes = null } = {}) {
        const numbers: number[] = []
        for (let position = after; ;) {
          const page = given(
            await feed.list(tenantSlug, { after: position, limit, eventTypes }),
            'the page after a position'
          )
          holds(page.bodies.length <= limit, `a page has at most ${limit} events`)
          numbers.push(...page.bodies.map(readNumber))
          position = page.position
          if (!page.hasMore) return { numbers, position }
        }
      }
    })
  })
}

/** `{"id":"evt_7"}` has the number 7. */
function readNumber (body: string): number {
  return Number(/evt_(\d+)/.exec(body)?.[1])
}

/** Cases about the feed of events. */
export const feedCases = [
  feedCase(
    {
      port: 'feed.list',
      name: 'the feed lists all events in pages, in order, each once, with and without webhooks'
    },
    async ({ addWebhook, emitMany, emit, follow }) => {
      await emitMany(3)
      await addWebhook()
      await addWebhook()
      await emitMany(2)
      same((await follow(null)).numbers, [1, 2, 3, 4, 5], 'the events of one page')
      const { numbers, position } = await follow(null, { limit: 2 })
      same(numbers, [1, 2, 3, 4, 5], 'the events of pages of two')
      same((await follow(position)).numbers, [], 'the events after the last position')
      await emit()
      same((await follow(position)).numbers, [6], 'the events after one more')
    }
  ),

  feedCase({ port: 'feed.list', name: 'the feed of a tenant has no event of another' }, async ({ emit, follow }) => {
    const { position } = await follow(null)
    await emit()
    await emit({ tenantSlug: 'globex' })
    same((await follow(null)).numbers, [1], 'the events of the first tenant')
    same((await follow(position)).numbers, [1], 'the same after an earlier position')
    same((await follow(null, { tenantSlug: 'globex' })).numbers, [2], 'the events of the other')
    same((await follow(null, { tenantSlug: 'nobody' })).numbers, [], 'the events of a tenant without any')
  }),

  feedCase({ port: 'feed.list', name: 'the feed lists events of some types' }, async ({ emit, emitMany, follow }) => {
    for (const type of ['job.created', 'candidate.created', 'job.closed', 'candidate.created', 'job.created']) {
      await emit({ type })
    }
    const eventTypes = ['job.created', 'job.closed']
    same((await follow(null, { eventTypes })).numbers, [1, 3, 5], 'the events of two types')
    const { numbers, position } = await follow(null, { eventTypes, limit: 1 })
    same(numbers, [1, 3, 5], 'the same in pages of one')
    await emitMany(2)
    same((await follow(position, { eventTypes })).numbers, [], 'the events after events of other types')
    same((await follow(null, { eventTypes: ['job.updated'] })).numbers, [], 'the events of a type without any')
  }),

  feedCase(
    {
      port: 'feed.list',
      name: 'the feed has the exact bodies, and tombstones of erased subjects'
    },
    async ({ deliveries, emit, feed }) => {
      const body = '{"id":"evt_1", "data":{"b":1.0,"a":"\\u0007\\u2028 é 漢 👩‍💻"}}'
      await emit({ body })
      await emit({ subject: 'candidate:1', tombstone: '{"id":"evt_2","erased":true}' })
      await deliveries.erase('acme', 'candidate:1')
      const page = given(await feed.list('acme', { after: null, limit: 10, eventTypes: null }), 'the first page')
      same(page.bodies, [body, '{"id":"evt_2","erased":true}'], 'the bodies')
    }
  ),

  feedCase(
    {
      port: 'feed.end',
      name: 'events that commit late are in the feed, after any position that was given before'
    },
    async ({ harness, deliveries, emit, feed, follow }) => {
      const before = await feed.end('acme')
      await emit()
      same((await follow(before)).numbers, [1], 'the events after the position before the first')
      if (harness.begin === undefined) {
        same((await follow(await feed.end('acme'))).numbers, [], 'the events after the current position')
        return
      }
      const late = await harness.begin()
      await deliveries.record(
        'acme',
        {
          id: 'evt_9',
          type: 'candidate.created',
          body: '{"id":"evt_9"}',
          subject: null,
          tombstone: null,
          idempotencyKey: null,
          fingerprint: ''
        },
        late.transaction
      )
      await emit()
      const during = await feed.end('acme')
      const early = await follow(null)
      holds(!early.numbers.includes(9), 'an event is not listed before it commits')
      await late.commit()
      const rest = await follow(early.position)
      same(
        [...early.numbers, ...rest.numbers].toSorted(),
        [1, 2, 9],
        'all events, read while and after the transaction was open'
      )
      same((await follow(null)).numbers, [1, 9, 2], 'all events, in the order in which they were recorded')
      holds((await follow(during)).numbers.includes(9), 'the late event comes after the position of that time')
    }
  ),

  feedCase(
    { port: 'feed.endBefore', name: 'the feed begins with the first event that was recorded at a time or later' },
    async ({ deliveries, harness, emit, emitMany, feed, follow, wait }) => {
      const from = async (since: string) => (await follow(await feed.endBefore('acme', since))).numbers
      await emitMany(2)
      await emit({ tenantSlug: 'globex' })
      await wait(20)
      await emit()
      const webhook = await harness.storage.webhooks.nextId('acme')
      await harness.storage.webhooks.create('acme', createWebhook(webhook), 50)
      await emit()
      const [delivery] = await deliveries.list('acme', webhook, firstRows)
      const since = given(delivery, 'the delivery of the last event').created_at
      holds((await from(since)).includes(5), 'the event of this time is listed')
      same(await from('2001-01-01T00:00:00.000Z'), [1, 2, 4, 5], 'the events since long ago')
      same(await from('9999-01-01T00:00:00.000Z'), [], 'the events since a later time')
      holds(!(await from(since)).includes(2), 'an earlier event is not listed')
      await deliveries.prune({ retentionDays: 0, limit: 2 })
      holds((await from('2001-01-01T00:00:00.000Z')).includes(5), 'the events after those that were pruned')
    }
  ),

  feedCase(
    { port: 'feed.find', name: 'an event is found by its id, by its tenant, until it is pruned' },
    async ({ deliveries, emit, feed, wait }) => {
      const body = '{"id":"evt_1", "data":1.0}'
      await emit({ body })
      await emit({ subject: 'candidate:1', tombstone: '{"erased":true}' })
      await deliveries.erase('acme', 'candidate:1')
      same(
        await Promise.all(['evt_1', 'evt_2', 'evt_3', ''].map((id) => feed.find('acme', id))),
        [body, '{"erased":true}', null, null],
        'the bodies of four ids'
      )
      same(await feed.find('globex', 'evt_1'), null, 'the event of another tenant')
      await wait(20)
      await deliveries.prune({ retentionDays: 0, limit: 10 })
      same(await feed.find('acme', 'evt_1'), null, 'the event once it is pruned')
    }
  ),

  feedCase(
    {
      port: 'feed.list',
      name: 'positions that are unknown or before pruned events are not accepted by the feed'
    },
    async ({ deliveries, emit, feed, follow, wait }) => {
      const start = await feed.end('acme')
      await emit()
      const { position } = await follow(null)
      const list = (after: string) => feed.list('acme', { after, limit: 10, eventTypes: null })
      for (const unknown of [
        '',
        '0',
        'x',
        `x${position}`,
        `${position}x`,
        position.replace(/\d/, ''),
        'x'.repeat(200)
      ]) {
        same(await list(unknown), null, `the page after ${JSON.stringify(unknown)}`)
      }
      await wait(20)
      same(await deliveries.prune({ retentionDays: 0, limit: 10 }), 1, 'the number of pruned events')
      same(await list(start), null, 'the page after a position before the pruned event')
      same((await follow(position)).numbers, [], 'the events after a position behind it')
      await emit()
      same(
        [(await follow(position)).numbers, (await follow(null)).numbers],
        [[2], [2]],
        'the events after another one, from there and from the beginning'
      )
    }
  ),

  feedCase(
    {
      port: 'feed.list',
      name: 'an old event that is kept for its delivery does not end the tokens of the feed'
    },
    async ({ addWebhook, deliveries, emit, feed, follow, wait }) => {
      await addWebhook({ event_types: ['job.created'] })
      await emit({ type: 'job.created' })
      await emit()
      await wait(20)
      await deliveries.prune({ retentionDays: 0, limit: 10 })
      await emit()
      await emit()
      const first = given(await feed.list('acme', { after: null, limit: 1, eventTypes: null }), 'the first page')
      same((await follow(first.position)).numbers.at(-1), 4, 'the last event after the first page')
    }
  ),

  feedCase({ port: 'feed.latest', name: 'the newest events of some types come first' }, async ({ emit, feed }) => {
    for (const type of ['job.created', 'candidate.created', 'job.closed', 'job.created', 'candidate.created']) {
      await emit({ type })
    }
    await emit({ tenantSlug: 'globex' })
    const read = async (limit: number, eventTypes: string[] | null) =>
      (await feed.latest('acme', { limit, eventTypes })).map(readNumber)
    same(await read(2, ['job.created', 'job.closed']), [4, 3], 'the newest two of two types')
    same(await read(10, null), [5, 4, 3, 2, 1], 'all of the tenant')
    same(await read(10, ['job.updated']), [], 'a type without events')
  }),

  feedCase(
    { port: 'feed.stats', name: 'readers of the feed are not behind while no transaction is open' },
    async ({ emit, feed }) => {
      await emit()
      same(await feed.stats(), { heldBackMs: 0, heldBackBy: null }, 'the statistics')
    }
  ),

  feedCase(
    {
      port: 'feed.tokenSecret',
      name: 'the feed has a secret of 32 bytes or more, always the same'
    },
    async ({ feed }) => {
      const [one, other] = [await feed.tokenSecret(), await feed.tokenSecret()]
      holds(one.length >= 32, 'the secret has 32 bytes or more')
      same(Buffer.from(one).toString('hex'), Buffer.from(other).toString('hex'), 'the secret of another call')
    }
  ),

  feedCase(
    {
      port: 'webhooks.renameTenant',
      name: 'a renamed tenant keeps its events in the feed, and earlier positions of both names are not known'
    },
    async ({ webhooks, emitMany, emit, feed, follow }) => {
      await emitMany(3)
      const [old, next] = [(await follow(null)).position, await feed.end('globex')]
      await webhooks.renameTenant(named('acme'), named('globex'), { reseal: (text) => text })
      const list = (tenant: string, after: string) => feed.list(tenant, { after, limit: 10, eventTypes: null })
      same(
        [await list('acme', old), await list('globex', old), await list('globex', next)],
        [null, null, null],
        'the pages after positions from before'
      )
      await emit({ tenantSlug: 'globex' })
      same((await follow(null, { tenantSlug: 'globex', limit: 1 })).numbers, [1, 2, 3, 4], 'the events of the new name')
      same((await follow(null)).numbers, [], 'the events of the old name')
    }
  ),

  feedCase(
    {
      port: 'webhooks.removeTenant',
      name: 'a removed tenant leaves nothing in the feed of a later one of its name'
    },
    async ({ webhooks, emitMany, emit, feed, follow }) => {
      await emitMany(2)
      const { position } = await follow(null)
      await webhooks.removeTenant('acme', { limit: 10 })
      same(
        await feed.list('acme', { after: position, limit: 10, eventTypes: null }),
        null,
        'the page after a position from before'
      )
      await emit()
      same((await follow(null)).numbers, [3], 'the events of the later tenant')
    }
  )
]
