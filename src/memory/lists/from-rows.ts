import type { CandidateSource, JobSource, ListSource } from '../../ports/index.js'
import { candidateKind } from './candidates.js'
import type { MemoryCandidate } from './candidates.js'
import { jobKind } from './jobs.js'
import type { MemoryJob } from './jobs.js'
import { countRows, takePage } from './page.js'
import { copyRow, createTable } from './row-source.js'
import type { RowKind } from './row-source.js'
import type { SortableRow, Table } from './table.js'

/** Gives all rows of a tenant, in any order; `[]` for a tenant without rows or unknown. */
export type LoadRows<Row> = (tenantSlug: string) => Promise<readonly Row[]> | readonly Row[]

/** A candidate with the dates that a list sorts by. */
export type LoadedCandidate = MemoryCandidate & { created_at: string, updated_at: string }

/** A job with the dates that a list sorts by. */
export type LoadedJob = MemoryJob & { created_at: string, updated_at: string }

/**
 * Serves candidates out of whatever gives all those of a tenant, such as an array or another service: filters, order and
 * pages are done here. Meant for some thousands of rows a tenant, for each page reads them all.
 *
 * A page and its total, which are asked for at once, share what is loaded. A malformed row rejects with a
 * `RecruitingApiError` (`invalid_option`) that names its place.
 */
export function candidatesFrom (load: LoadRows<LoadedCandidate>): CandidateSource {
  return createSource(candidateKind, 'candidates', load)
}

/** Serves jobs out of whatever gives all those of a tenant. As `candidatesFrom`. */
export function jobsFrom (load: LoadRows<LoadedJob>): JobSource {
  return createSource(jobKind, 'jobs', load)
}

function createSource<Row extends SortableRow<Field>, Filter, Field extends string> (
  kind: RowKind<Row, Filter>,
  path: string,
  load: LoadRows<object>
): ListSource<Row, Filter, Field> {
  const loading = new Map<string, Promise<Table<Row, Field>>>()

  async function loadTable (tenantSlug: string): Promise<Table<Row, Field>> {
    return createTable(kind, await load(tenantSlug), path, 0)
  }

  function shareTable (tenantSlug: string): Promise<Table<Row, Field>> {
    const table = loading.get(tenantSlug) ?? loadTable(tenantSlug).finally(() => loading.delete(tenantSlug))
    loading.set(tenantSlug, table)
    return table
  }

  return {
    async list (tenantSlug, { filter, sort, offset, limit }) {
      const table = await shareTable(tenantSlug)
      return takePage(table.sorted(sort), kind.createTest(filter), { offset, limit }).map(copyRow)
    },

    async count (tenantSlug, filter) {
      return countRows((await shareTable(tenantSlug)).entries, kind.createTest(filter))
    }
  }
}
