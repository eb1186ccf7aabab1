import type { CandidateSource, JobSource } from '../../ports/index.js'
import { candidateKind } from './candidates.js'
import type { MemoryCandidate } from './candidates.js'
import { jobKind } from './jobs.js'
import type { MemoryJob } from './jobs.js'
import { countRows, takePage } from './page.js'
import { copyRow, createTable } from './row-source.js'
import type { RowKind, WholeRows } from './row-source.js'
import type { SortableRow, Table } from './table.js'

/** Returns all rows of a tenant, in any order; `[]` for a tenant that is unknown or has no rows. */
export type LoadRows<Row> = (tenantSlug: string) => Promise<readonly Row[]> | readonly Row[]

/** A candidate with the dates that lists sort by. */
export type LoadedCandidate = MemoryCandidate & { created_at: string, updated_at: string }

/** A job with the dates that lists sort by. */
export type LoadedJob = MemoryJob & { created_at: string, updated_at: string }

/**
 * Creates a source of candidates from a function that returns all candidates of a tenant, for example from an array or
 * another service. Filters, sorts and pages them in memory. Suitable for some thousands of rows per tenant, because
 * every request loads all of them.
 *
 * A page and its total share one load. A malformed row rejects with a `RecruitingApiError` (`invalid_option`) that
 * names the row.
 */
export function candidatesFrom (load: LoadRows<LoadedCandidate>): CandidateSource {
  return createSource(candidateKind, 'candidates', load)
}

/** Creates a source of jobs from a function that returns all jobs of a tenant. See `candidatesFrom`. */
export function jobsFrom (load: LoadRows<LoadedJob>): JobSource {
  return createSource(jobKind, 'jobs', load)
}

function createSource<Row extends SortableRow<Field>, Filter, Field extends string> (
  kind: RowKind<Row, Filter>,
  path: string,
  load: LoadRows<object>
): WholeRows<Row, Filter, Field> {
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
    },

    async find (tenantSlug, id) {
      const entry = (await shareTable(tenantSlug)).find(id)
      return entry === undefined ? null : copyRow(entry)
    }
  }
}
