import { type StorageCase, defineCase } from '../support/case.js'
import { same } from '../support/expect.js'
import type { StorageHarness } from '../support/harness.js'
import { candidate, candidateFields, job, jobFields } from '../lists/rows.js'

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
