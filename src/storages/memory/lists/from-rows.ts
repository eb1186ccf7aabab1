import type { CandidateSource, Id, IdKinds, JobSource } from '../../../core/ports/index.js'
import { readIds } from '../../../core/shared/ids.js'
import { readOptions } from '../../../core/shared/read-options.js'
import { createTable, readTables, type RowKind, type SortableRow, type Table, type WholeRows } from './row-source.js'
import {
  candidateKind, type IdOf, type IntegerIds, jobKind, type MemoryCandidate, type MemoryJob
} from './rows.js'

/** Returns all rows of a tenant in any order; `[]` for an unknown tenant. */
export type LoadRows<Row> = (tenant: string) => Promise<readonly Row[]> | readonly Row[]

/** A candidate with the dates that lists sort by. */
export type LoadedCandidate<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> = MemoryCandidate<CandidateId, SourceId, RecruiterId> & { created_at: string; updated_at: string }

/** A job with the dates that lists sort by. */
export type LoadedJob<JobId extends Id = number> = MemoryJob<JobId> & { created_at: string, updated_at: string }

/** Options of `candidatesFrom` and `jobsFrom`. */
export interface FromRowsOptions<Ids extends Partial<IdKinds> = IntegerIds> {
  /** Which ids of the rows are text, as in the option `ids` of the plugin. @default all are 'integer' */
  ids?: Ids
}

/**
 * Creates a source of candidates from a function that returns all candidates of a tenant, for example from an array or
 * another service. Filters, sorts and pages them in memory. Suitable for a few thousand rows per tenant, because every
 * request loads all of them.
 *
 * A page and its total share one load. A malformed row rejects with a `RecruitingApiError` (`invalid_option`) that
 * names the row.
 */
export function candidatesFrom<const Ids extends Partial<IdKinds> = IntegerIds> (
  load: LoadRows<LoadedCandidate<IdOf<Ids, 'candidate'>, IdOf<Ids, 'source'>, IdOf<Ids, 'recruiter'>>>,
  options?: FromRowsOptions<Ids>
): CandidateSource<IdOf<Ids, 'candidate'>, IdOf<Ids, 'source'>, IdOf<Ids, 'recruiter'>>
export function candidatesFrom (
  load: LoadRows<object>, options: FromRowsOptions<IdKinds> = {}
): CandidateSource<Id, Id, Id> {
  return createSource(candidateKind(readKinds(options)), 'candidates', load)
}

/** Creates a source of jobs from a function that returns all jobs of a tenant. See `candidatesFrom`. */
export function jobsFrom<const Ids extends Partial<IdKinds> = IntegerIds> (
  load: LoadRows<LoadedJob<IdOf<Ids, 'job'>>>, options?: FromRowsOptions<Ids>
): JobSource<IdOf<Ids, 'job'>>
export function jobsFrom (load: LoadRows<object>, options: FromRowsOptions<IdKinds> = {}): JobSource<Id> {
  return createSource(jobKind(readKinds(options)), 'jobs', load)
}

function readKinds (options: object): IdKinds {
  return readOptions(options, { ids: readIds }).ids
}

function createSource<Row extends SortableRow<Field>, Filter extends object, Field extends string> (
  kind: RowKind<Row>, path: string, load: LoadRows<object>
): WholeRows<Row, Filter, Field> {
  const loading = new Map<string, Promise<Table<Row, Field>>>()

  async function loadTable (tenant: string): Promise<Table<Row, Field>> {
    return createTable(kind, await load(tenant), path, 0)
  }

  function shareTable (tenant: string): Promise<Table<Row, Field>> {
    const table = loading.get(tenant) ?? loadTable(tenant).finally(() => loading.delete(tenant))
    loading.set(tenant, table)
    return table
  }

  return readTables(kind, shareTable)
}
