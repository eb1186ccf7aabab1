import { followPages, optionalCases, type StorageDriver } from './support/driver.js'
import { holds, same } from './support/expect.js'
import { createEvent } from './support/samples.js'

interface Page {
  items: number[]
  position: string
  hasMore: boolean
}

const kind = 'job_application'

/** What is read by position: events, or changes of an own list. Each has a number. */
const readers = {
  feed ({ harness, deliveries }: StorageDriver) {
    const { feed } = harness.storage
    return feed && {
      port: feed,
      record: (number: number, tenant = 'acme', transaction?: unknown): Promise<unknown> =>
        deliveries.record(tenant, createEvent(`evt_${number}`), transaction),
      end: (tenant = 'acme') => feed.end(tenant),
      async read (after: string, tenant = 'acme', limit = 10): Promise<Page | null> {
        const page = await feed.list(tenant, { after, limit, eventTypes: null })
        return page && { ...page, items: page.bodies.map((body) => Number(/evt_(\d+)/.exec(body)?.[1])) }
      },
      prune: (retentionDays: number) => deliveries.prune({ retentionDays, limit: 10 })
    }
  },

  changes ({ harness }: StorageDriver) {
    const { changes } = harness.storage
    return changes && {
      port: changes,
      record: (number: number, tenant = 'acme', transaction?: unknown): Promise<unknown> =>
        changes.record(tenant, { kind, id: String(number), deleted: false }, transaction),
      end: (tenant = 'acme') => changes.begin(tenant, kind),
      async read (after: string, tenant = 'acme', limit = 10): Promise<Page | null> {
        const page = await changes.list(tenant, kind, { after, limit })
        return page && { ...page, items: page.ids.map(Number) }
      },
      prune: (retentionDays: number) => changes.prune({ retentionDays, limit: 10 })
    }
  }
}

/** Cases about positions in the feed of events and in changes, which have the same promises. */
export const positionCases = (['feed', 'changes'] as const).flatMap((name) => {
  const isFeed = name === 'feed'
  const define = optionalCases(isFeed ? 'deliveries' : 'sync', name, (driver) => {
    const reader = readers[name](driver)
    if (reader === undefined) return null
    return {
      ...driver,
      ...reader,
      /** Reads pages from a position to the end. */
      follow: (start: string, tenant?: string, limit = 100) =>
        followPages((after) => reader.read(after ?? '', tenant, limit), start, limit)
    }
  })
  const test: typeof define = (port, statement, body) => define(port, `${name}: ${statement}`, body)

  return [
    test('list', 'pages contain each entry once, in order', async (t) => {
      const start = await t.end()
      for (const number of [5, 3, 4]) await t.record(number)
      for (let count = 0; count < 2; count++) await t.addWebhook()
      for (const number of [1, 2]) await t.record(number)
      same((await t.follow(start)).items, [5, 3, 4, 1, 2], 'the entries of one page')
      const { items, position } = await t.follow(start, 'acme', 2)
      same(items, [5, 3, 4, 1, 2], 'the entries of pages of two')
      same((await t.follow(position)).items, [], 'the entries after the last position')
      await t.record(6)
      same((await t.follow(position)).items, [6], 'the entries after one more')
    }),

    test(isFeed ? 'end' : 'begin', 'an entry that commits late follows every position returned before', async (t) => {
      const start = await t.end()
      const open = await t.harness.begin?.()
      await t.record(9, 'acme', open?.transaction)
      await t.record(1)
      const during = await t.end()
      if (open === undefined) return same((await t.follow(during)).items, [], 'the entries after the current position')
      const early = await t.follow(start)
      holds(!early.items.includes(9), 'an entry is not listed before it commits')
      await open.commit()
      const rest = await t.follow(early.position)
      same([...early.items, ...rest.items].toSorted(), [1, 9],
        'all entries, read while and after the transaction was open')
      const all = (await t.follow(start)).items
      same(isFeed ? all : all.toSorted().toReversed(), [9, 1], 'all entries, events in the order of their recording')
      holds((await t.follow(during)).items.includes(9), 'the late entry follows the position read before its commit')
    }),

    test('list', 'unknown positions and positions before pruned entries are rejected', async (t) => {
      const start = await t.end()
      await t.record(1)
      const { position } = await t.follow(start)
      for (const unknown of ['', '0', 'x', `x${position}`, `${position}x`, `${position}0`, 'x'.repeat(200)]) {
        same(await t.read(unknown), null, `the page after ${JSON.stringify(unknown)}`)
      }
      await t.wait(20)
      same([await t.prune(1), await t.prune(0)], [0, 1], 'the entries pruned after a day, and at once')
      same(await t.read(start), null, 'the page after a position before the pruned entry')
      same((await t.follow(position)).items, [], 'the entries after a position behind it')
      await t.record(2)
      same((await t.follow(position)).items, [2], 'the entries after another one')
    }),

    test('stats', 'no delay is reported while no transaction is open', async (t) => {
      await t.record(1)
      same(await t.port.stats(), { heldBackMs: 0, heldBackBy: null }, 'the statistics')
    }),

    test('stats', 'a committed entry is listed, or a delay is reported', async (t) => {
      const start = await t.end()
      const open = await t.harness.begin?.()
      if (open === undefined) return
      await t.record(9, 'acme', open.transaction)
      await t.record(1)
      const { heldBackMs } = await t.port.stats()
      holds((await t.follow(start)).items.includes(1) || heldBackMs > 0, 'the entry is listed, or heldBackMs is not 0')
      await open.rollback()
    }),

    test('tokenSecret', 'the token secret has at least 32 bytes, is random and never changes', async (t) => {
      const [first, second] = [await t.port.tokenSecret(), await t.port.tokenSecret()]
      holds(first.length >= 32 && new Set(first).size > 8, 'the secret has 32 bytes or more, many of them different')
      same([...second], [...first], 'the secret, read again')
    }),

    test('webhooks.renameTenant', 'renaming a tenant invalidates the positions of both names', async (t) => {
      const [old, target, others] = [await t.end(), await t.end('globex'), await t.end('initech')]
      await t.record(1)
      await t.rename()
      same([await t.read(old), await t.read(old, 'globex'), await t.read(target, 'globex')], [null, null, null],
        'the pages of both names after earlier positions')
      const [next, renamed] = [await t.end(), await t.end('globex')]
      await t.record(2, 'globex')
      same([(await t.follow(next)).items, (await t.follow(renamed, 'globex')).items], [[], [2]],
        'the entries of both names after new positions')
      same((await t.follow(others, 'initech')).items, [], 'the entries of another tenant')
    }),

    test('webhooks.removeTenant', 'removing a tenant invalidates its positions, even if the name is reused', async (t) => {
      const [start, others] = [await t.end(), await t.end('globex')]
      await t.record(1)
      const { position } = await t.follow(start)
      await t.remove()
      await t.record(2)
      same([await t.read(start), await t.read(position)], [null, null], 'the pages after earlier positions')
      const next = await t.end()
      await t.record(3)
      same((await t.follow(next)).items, [3], 'the entries after a new position')
      same((await t.follow(others, 'globex')).items, [], 'the entries of another tenant')
    })
  ]
})
