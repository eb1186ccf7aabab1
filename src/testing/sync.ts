import type { ChangeKind, ChangeSource } from '../ports/index.js'
import { candidate, candidateFields, job, jobFields } from './lists/rows.js'
import { type CaseHead, defineCase, type StorageCase } from './support/case.js'
import { given, holds, rejects, same } from './support/expect.js'
import type { StorageHarness } from './support/harness.js'
import { named } from './support/samples.js'
import { wait } from './support/wait.js'

/** Changes under test, with helpers for common steps. They act for the candidates of `acme` by default. */
interface ChangeBench extends Pick<Required<StorageHarness>, 'storage'> {
  harness: StorageHarness
  changes: ChangeSource
  record(
    id: string,
    options?: { tenantSlug?: string; kind?: ChangeKind; deleted?: boolean; transaction?: unknown }
  ): Promise<void>
  begin(options?: { tenantSlug?: string; kind?: ChangeKind }): Promise<string>
  /** Follows the changes after a position to the end, and returns their ids and the last position. */
  follow(
    after: string,
    options?: { tenantSlug?: string; kind?: ChangeKind; limit?: number }
  ): Promise<{ ids: string[]; position: string }>
}

/** Creates a case that passes on a storage without changes. */
function changeCase (head: CaseHead, body: (driver: ChangeBench) => Promise<void>): StorageCase {
  return defineCase('sync', head, async (harness) => {
    const { storage } = harness
    const { changes } = storage
    if (changes === undefined) return
    await body({
      harness,
      storage,
      changes,
      record: (id, { tenantSlug = 'acme', kind = 'candidate', deleted = false, transaction } = {}) =>
        changes.record(tenantSlug, { kind, id, deleted }, transaction),
      begin: ({ tenantSlug = 'acme', kind = 'candidate' } = {}) => changes.begin(tenantSlug, kind),
      async follow (after, { tenantSlug = 'acme', kind = 'candidate', limit = 100 } = {}) {
        const ids: string[] = []
        for (let position = after; ;) {
          const page = given(
            await changes.list(tenantSlug, kind, { after: position, limit }),
            'the page after a position'
          )
          holds(page.ids.length <= limit, `a page has at most ${limit} changes`)
          ids.push(...page.ids)
          position = page.position
          if (!page.hasMore) return { ids, position }
        }
      }
    })
  })
}

/** Cases about the changes of candidates and jobs. */
export const changeCases = [
  changeCase({
    port: 'changes.list', name: 'changes are listed in pages, in order, each once'
  }, async ({ record, follow, begin }) => {
    const start = await begin()
    for (const id of ['5', '3', '4', '1', '2']) await record(id)
    same((await follow(start)).ids, ['5', '3', '4', '1', '2'], 'the ids in one page')
    const { ids, position } = await follow(start, { limit: 2 })
    same(ids, ['5', '3', '4', '1', '2'], 'the ids in pages of two')
    same((await follow(position)).ids, [], 'the ids after the last position')
    await record('3')
    same((await follow(position)).ids, ['3'], 'the ids after one more change')
  }),

  changeCase({
    port: 'changes.list', name: 'an item that changed twice comes after both changes'
  }, async ({ record, follow, begin }) => {
    const start = await begin()
    await record('1')
    const { position } = await follow(start)
    await record('2')
    await record('1')
    same((await follow(position)).ids, ['2', '1'], 'the ids after the first change')
    same((await follow(start)).ids.at(-1), '1', 'the last id from the start')
  }),

  changeCase({
    port: 'changes.list', name: 'a deletion is listed like any change'
  }, async ({ record, follow, begin }) => {
    await record('1')
    await record('2')
    const start = await begin()
    await record('1', { deleted: true })
    await record('3', { deleted: true })
    same((await follow(start)).ids, ['1', '3'], 'the ids of two that were deleted')
  }),

  changeCase({
    port: 'changes.list', name: 'changes of another tenant or resource are not listed'
  }, async ({ record, follow, begin }) => {
    const feeds = [
      {}, { kind: 'job' }, { tenantSlug: 'globex' }, { tenantSlug: 'globex', kind: 'job' }, { tenantSlug: 'nobody' }
    ] as const
    const starts = await Promise.all(feeds.map(begin))
    await record('1')
    await record('2', { tenantSlug: 'globex' })
    await record('3', { kind: 'job' })
    const listed = await Promise.all(starts.map(async (start, index) => (await follow(start, feeds[index])).ids))
    same(listed, [['1'], ['3'], ['2'], [], []], 'the ids of two tenants and resources, and of a tenant without changes')
  }),

  changeCase({
    port: 'changes.begin', name: 'a change that commits late is not passed by'
  }, async ({ harness, record, follow, begin }) => {
    if (harness.begin === undefined) return
    const before = await begin()
    const late = await harness.begin()
    await record('late', { transaction: late.transaction })
    await record('1')
    const during = await begin()
    const early = await follow(before)
    holds(!early.ids.includes('late'), 'a change is not listed before it commits')
    await late.commit()
    const rest = await follow(early.position)
    same(
      [...early.ids, ...rest.ids].toSorted(),
      ['1', 'late'],
      'all ids, read while and after the transaction was open'
    )
    holds((await follow(during)).ids.includes('late'), 'the late change comes after the position of that time')
  }),

  changeCase({
    port: 'changes.record',
    name: 'a change commits with the host\'s transaction, or is rejected by a storage without transactions'
  }, async ({ harness, record, follow, begin }) => {
    const start = await begin()
    if (harness.begin === undefined) return rejects(record('1', { transaction: {} }), 'recording with a transaction')
    const lost = await harness.begin()
    await record('lost', { transaction: lost.transaction })
    await lost.rollback()
    const kept = await harness.begin()
    await record('kept', { transaction: kept.transaction })
    await record('kept', { transaction: kept.transaction })
    await kept.commit()
    same(
      [...new Set((await follow(start)).ids)],
      ['kept'],
      'the ids after one transaction was rolled back and one committed'
    )
  }),

  changeCase({
    port: 'changes.record', name: 'two transactions that record the same items do not wait for one another'
  }, async ({ harness, record, follow, begin }) => {
    if (harness.begin === undefined) return rejects(record('1', { transaction: {} }), 'recording with a transaction')
    await record('1')
    await record('2')
    const start = await begin()
    const [first, second] = [await harness.begin(), await harness.begin()]
    await record('1', { transaction: first.transaction })
    await record('2', { transaction: second.transaction })
    await record('2', { transaction: first.transaction })
    await record('1', { transaction: second.transaction })
    await second.commit()
    await first.rollback()
    same([...new Set((await follow(start)).ids)].toSorted(), ['1', '2'], 'the ids after one of them committed')
  }),

  changeCase({
    port: 'changes.list', name: 'unknown positions and those before pruned changes are not accepted'
  }, async ({ harness, changes, record, follow, begin }) => {
    const start = await begin()
    await record('1')
    const { position } = await follow(start)
    const list = (after: string) => changes.list('acme', 'candidate', { after, limit: 10 })
    for (const unknown of ['', '0', 'x', `${position}0`, `x${position}`, 'x'.repeat(200)]) {
      same(await list(unknown), null, `the page after ${unknown}`)
    }
    await wait(harness, 20)
    same(await changes.prune({ retentionDays: 1, limit: 10 }), 0, 'the changes older than a day')
    same(await changes.prune({ retentionDays: 0, limit: 10 }), 1, 'the pruned changes')
    same(await list(start), null, 'the page after a position before the pruned change')
    same((await follow(position)).ids, [], 'the ids after a position behind it')
    await record('2')
    same((await follow(position)).ids, ['2'], 'the ids after another change')
  }),

  changeCase({
    port: 'changes.prune', name: 'changes are pruned in batches, the oldest first'
  }, async ({ harness, changes, record, follow, begin }) => {
    await record('1')
    await record('2')
    const middle = await begin()
    await wait(harness, 20)
    await record('3')
    await wait(harness, 20)
    same(await changes.prune({ retentionDays: 0, limit: 2 }), 2, 'the first batch')
    same((await follow(middle)).ids, ['3'], 'the ids that are left')
    same(
      [await changes.prune({ retentionDays: 0, limit: 2 }), await changes.prune({ retentionDays: 0, limit: 2 })],
      [1, 0],
      'further batches'
    )
  }),

  changeCase({
    port: 'changes.tokenSecret', name: 'the secret of tokens has 32 bytes and stays the same'
  }, async ({ changes }) => {
    const [first, second] = [await changes.tokenSecret(), await changes.tokenSecret()]
    holds(first.length >= 32, 'the secret has 32 bytes or more')
    same([...second], [...first], 'the secret, asked for again')
    holds(new Set(first).size > 8, 'the secret is random')
  }),

  changeCase({
    port: 'changes.stats', name: 'readers are not behind while no transaction is open'
  }, async ({ changes, record }) => {
    await record('1')
    same(await changes.stats(), { heldBackMs: 0, heldBackBy: null }, 'the statistics')
  }),

  changeCase({
    port: 'webhooks.renameTenant', name: 'positions of a renamed tenant and of its new name are not known'
  }, async ({ storage, changes, record, follow, begin }) => {
    const [before, start] = [await begin(), await begin({ tenantSlug: 'globex' })]
    const others = await begin({ tenantSlug: 'initech' })
    await record('1')
    await storage.webhooks.renameTenant(named('acme'), named('globex'), { reseal: (text) => text })
    const list = (tenantSlug: string, after: string) => changes.list(tenantSlug, 'candidate', { after, limit: 10 })
    same(
      [await list('acme', before), await list('globex', start)],
      [null, null],
      'the pages of both names after positions from before'
    )
    const [old, renamed] = [await begin(), await begin({ tenantSlug: 'globex' })]
    await record('2', { tenantSlug: 'globex' })
    same(
      [(await follow(old)).ids, (await follow(renamed, { tenantSlug: 'globex' })).ids],
      [[], ['2']],
      'the ids of both names after new positions'
    )
    same((await follow(others, { tenantSlug: 'initech' })).ids, [], 'the ids of another tenant')
  }),

  changeCase({
    port: 'webhooks.removeTenant', name: 'positions of a removed tenant are not known, also if the name is taken again'
  }, async ({ storage, changes, record, follow, begin }) => {
    const [start, others] = [await begin(), await begin({ tenantSlug: 'globex' })]
    await record('1')
    const { position } = await follow(start)
    await storage.webhooks.removeTenant('acme', { limit: 10 })
    await record('2')
    const list = (after: string) => changes.list('acme', 'candidate', { after, limit: 10 })
    same([await list(start), await list(position)], [null, null], 'the pages after positions from before')
    const next = await begin()
    await record('3')
    same((await follow(next)).ids, ['3'], 'the ids after a new position')
    same((await follow(others, { tenantSlug: 'globex' })).ids, [], 'the ids of another tenant')
  })
]

/** Candidates or jobs under test. */
interface SyncedRows {
  save (tenantSlug: string, ids: readonly number[]): Promise<void> | void
  listAfter (after: number | null, limit: number, tenantSlug?: string): Promise<number[]>
  findMany (ids: readonly number[], tenantSlug?: string): Promise<Array<number | null>>
}

/** Creates a case for candidates and one for jobs. They pass on a source without the methods for sync. */
function syncedCases (
  head: { port: 'listAfter' | 'findMany', name: string },
  body: (rows: SyncedRows) => Promise<void>
): StorageCase[] {
  return [['candidates', candidateRows] as const, ['jobs', jobRows] as const].map(([name, toRows]) => {
    return defineCase(
      'sync',
      { ...head, port: `${name}.${head.port}`, name: `${name}: ${head.name}` },
      async (harness) => {
        if (harness.storage[name].listAfter !== undefined || harness.storage[name].findMany !== undefined) {
          await body(toRows(harness))
        }
      }
    )
  })
}

function candidateRows ({ storage: { candidates }, saveCandidates }: StorageHarness): SyncedRows {
  return {
    save: (tenantSlug, ids) => saveCandidates(tenantSlug, ids.map((id) => candidate(id))),
    listAfter: async (after, limit, tenantSlug = 'acme') =>
      (await candidates.listAfter?.(tenantSlug, { after, limit, fields: candidateFields }) ?? []).map(({ id }) => id),
    findMany: async (ids, tenantSlug = 'acme') =>
      (await candidates.findMany?.(tenantSlug, ids, { fields: candidateFields }) ?? []).map((row) => row && row.id)
  }
}

function jobRows ({ storage: { jobs }, saveJobs }: StorageHarness): SyncedRows {
  return {
    save: (tenantSlug, ids) => saveJobs(tenantSlug, ids.map((id) => job(id))),
    listAfter: async (after, limit, tenantSlug = 'acme') =>
      (await jobs.listAfter?.(tenantSlug, { after, limit, fields: jobFields }) ?? []).map(({ id }) => id),
    findMany: async (ids, tenantSlug = 'acme') =>
      (await jobs.findMany?.(tenantSlug, ids, { fields: jobFields }) ?? []).map((row) => row && row.id)
  }
}

/** Cases about reading rows for sync. */
export const syncedRowCases = [
  syncedCases({
    port: 'listAfter', name: 'rows are read by ascending id, after an id'
  }, async ({ save, listAfter }) => {
    await save('acme', [30, 4, 100, 5_000_000_000, 12])
    await save('globex', [5, 31])
    same(await listAfter(null, 10), [4, 12, 30, 100, 5_000_000_000], 'all ids')
    same(await listAfter(null, 2), [4, 12], 'the first two')
    same(await listAfter(12, 2), [30, 100], 'two after 12')
    same(await listAfter(13, 10), [30, 100, 5_000_000_000], 'all after 13, which does not exist')
    same(await listAfter(5_000_000_000, 10), [], 'all after the last one')
    same(await listAfter(5, 10, 'globex'), [31], 'those of another tenant')
    same(await listAfter(null, 10, 'nobody'), [], 'those of a tenant without rows')
  }),

  syncedCases({ port: 'findMany', name: 'rows are found in the order of their ids' }, async ({ save, findMany }) => {
    await save('acme', [1, 2, 30])
    await save('globex', [3])
    same(await findMany([30, 3, 1, 4, 2]), [30, null, 1, null, 2], 'the ids of the rows that are found')
    same(await findMany([1, 3], 'globex'), [null, 3], 'those of another tenant')
    same(await findMany([9]), [null], 'an id that does not exist')
  })
].flat()
