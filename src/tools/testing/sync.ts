import type { ChangeKind } from '../../core/ports/index.js'
import { rowCases } from './lists/rows.js'
import { followPages, followsTransaction, optionalCases } from './support/driver.js'
import { rejects, same } from './support/expect.js'

interface Options {
  tenantSlug?: string
  kind?: ChangeKind
}

// The helpers act for the candidates of `acme` by default.
const changeCase = optionalCases('sync', 'changes', (driver) => {
  const { changes } = driver.harness.storage
  if (changes === undefined) return null

  const record = (
    id: string,
    { tenantSlug = 'acme', kind = 'candidate', deleted = false, transaction }:
    Options & { deleted?: boolean, transaction?: unknown } = {}
  ): Promise<void> => changes.record(tenantSlug, { kind, id, deleted }, transaction)

  const begin = ({ tenantSlug = 'acme', kind = 'candidate' }: Options = {}): Promise<string> =>
    changes.begin(tenantSlug, kind)

  /** Follows the changes from a position to the end. Returns their ids and the last position. */
  const follow = async (
    start: string, { tenantSlug = 'acme', kind = 'candidate', limit = 100 }: Options & { limit?: number } = {}
  ): Promise<{ ids: string[], position: string }> => {
    const { items, position } = await followPages(async (after) => {
      const page = await changes.list(tenantSlug, kind, { after: after ?? '', limit })
      return page && { ...page, items: page.ids }
    }, start, limit)
    return { ids: items, position }
  }

  return { ...driver, changes, record, begin, follow }
})

export const syncCases = [
  // About the changes of candidates, jobs and own lists.
  changeCase('list', 'an item that changed twice is listed at its second change', async (t) => {
    const start = await t.begin()
    await t.record('1')
    const { position } = await t.follow(start)
    await t.record('2')
    await t.record('1')
    same((await t.follow(position)).ids, ['2', '1'], 'the ids after the first change')
    same((await t.follow(start)).ids.at(-1), '1', 'the last id from the start')
  }),

  changeCase('list', 'a deletion is listed like any other change', async (t) => {
    await t.record('1')
    await t.record('2')
    const start = await t.begin()
    await t.record('1', { deleted: true })
    await t.record('3', { deleted: true })
    same((await t.follow(start)).ids, ['1', '3'], 'the ids of two deleted items')
  }),

  changeCase('list', 'changes of another tenant or resource are not listed', async (t) => {
    const feeds = [
      {}, { kind: 'job' }, { kind: 'job_application' }, { tenantSlug: 'globex' },
      { tenantSlug: 'globex', kind: 'job_application' }, { tenantSlug: 'nobody' }
    ] as const
    const starts = await Promise.all(feeds.map(t.begin))
    await t.record('1')
    await t.record('2', { tenantSlug: 'globex' })
    await t.record('3', { kind: 'job' })
    await t.record('4', { kind: 'job_application' })
    const listed = await Promise.all(starts.map(async (start, index) => (await t.follow(start, feeds[index])).ids))
    same(listed, [['1'], ['3'], ['4'], ['2'], [], []],
      'the ids of two tenants and resources, and of a tenant without changes')
  }),

  changeCase('record',
    'a change commits with the host\'s transaction; a storage without transactions rejects it', async (t) => {
      const start = await t.begin()
      await followsTransaction(t, 'recording', {
        async write (transaction) {
          await t.record('kept', { transaction })
          await t.record('kept', { transaction })
        },
        async look (isWritten) {
          same([...new Set((await t.follow(start)).ids)], isWritten ? ['kept'] : [], 'the ids')
        }
      })
    }),

  changeCase('record', 'two transactions that record the same items do not wait for each other', async (t) => {
    const { harness } = t
    if (harness.begin === undefined) return rejects(t.record('1', { transaction: {} }), 'recording with a transaction')
    await t.record('1')
    await t.record('2')
    const start = await t.begin()
    const [first, second] = [await harness.begin(), await harness.begin()]
    await t.record('1', { transaction: first.transaction })
    await t.record('2', { transaction: second.transaction })
    await t.record('2', { transaction: first.transaction })
    await t.record('1', { transaction: second.transaction })
    await second.commit()
    await first.rollback()
    same([...new Set((await t.follow(start)).ids)].toSorted(), ['1', '2'], 'the ids after one of them committed')
  }),

  changeCase('prune', 'changes are pruned in batches, the oldest first', async (t) => {
    await t.record('1')
    await t.record('2')
    const middle = await t.begin()
    await t.wait(20)
    await t.record('3')
    await t.wait(20)
    same(await t.changes.prune({ retentionDays: 0, limit: 2 }), 2, 'the first batch')
    same((await t.follow(middle)).ids, ['3'], 'the ids that are left')
    same([await t.changes.prune({ retentionDays: 0, limit: 2 }), await t.changes.prune({ retentionDays: 0, limit: 2 })],
      [1, 0], 'further batches')
  }),

  // About reading rows for sync. A source without the methods passes.
  rowCases('listAfter', 'rows after an id are read by ascending id', async (rows) => {
    if (!rows.isSynced) return
    await rows.saveIds([30, 4, 100, 5_000_000_000, 12])
    await rows.saveIds([5, 31], 'globex')
    same(await rows.listAfter(null, 10), [4, 12, 30, 100, 5_000_000_000], 'all ids')
    same(await rows.listAfter(null, 2), [4, 12], 'the first two')
    same(await rows.listAfter(12, 2), [30, 100], 'two after 12')
    same(await rows.listAfter(13, 10), [30, 100, 5_000_000_000], 'all after 13, which does not exist')
    same(await rows.listAfter(5_000_000_000, 10), [], 'all after the last one')
    same(await rows.listAfter(5, 10, 'globex'), [31], 'the rows of another tenant')
    same(await rows.listAfter(null, 10, 'nobody'), [], 'the rows of a tenant without any')
  }, 'sync'),

  rowCases('findMany', 'rows are found in the order of the given ids', async (rows) => {
    if (!rows.isSynced) return
    await rows.saveIds([1, 2, 30])
    await rows.saveIds([3], 'globex')
    same(await rows.findMany([30, 3, 1, 4, 2]), [30, null, 1, null, 2], 'the ids of the rows that are found')
    same(await rows.findMany([1, 3], 'globex'), [null, 3], 'the ids for another tenant')
    same(await rows.findMany([9]), [null], 'an id that does not exist')
  }, 'sync')
].flat()
