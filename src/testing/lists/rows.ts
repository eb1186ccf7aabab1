import type { CandidateFilter, JobFilter, SortItem } from '../../ports/index.js'
import type { CaseHead, StorageCase } from '../support/case.js'
import { defineCase } from '../support/case.js'
import type { SavedCandidate, SavedJob, StorageHarness } from '../support/harness.js'

/** The common fields of candidates and jobs. */
export interface Sample {
  id: number
  name: string
  created_at?: string
  updated_at?: string
}

/** A query for either resource. For candidates, `name` means `full_name`. */
export interface SampleQuery {
  filter?: { q?: string, updatedAfter?: string }
  sort?: ReadonlyArray<SortItem<'id' | 'name' | 'created_at' | 'updated_at'>>
  offset?: number
  limit?: number
}

/** Candidates or jobs, with one interface for both. */
export interface Rows {
  save (samples: readonly Sample[], tenantSlug?: string): Promise<void>
  /** Returns the ids of one page. */
  ids (query?: SampleQuery, tenantSlug?: string): Promise<number[]>
  /** Returns the rows of one page. */
  list (query?: SampleQuery, tenantSlug?: string): Promise<Array<{ id: number }>>
  find (id: number, tenantSlug?: string): Promise<{ id: number } | null>
  count (filter?: { q?: string, updatedAfter?: string }, tenantSlug?: string): Promise<number>
}

/** The candidate fields that the API reads by default. */
export const candidateFields: readonly string[] = ['id', 'full_name', 'headline', 'source_id']

/** The job fields that the API reads by default. */
export const jobFields: readonly string[] = ['id', 'name', 'status']

const date = '2026-01-01T00:00:00.000Z'
const byId: SortItem<'id'> = { field: 'id', direction: 'asc' }

/** Creates the same case for candidates and for jobs. */
export function rowCases ({ port, name }: CaseHead, body: (rows: Rows) => Promise<void>): StorageCase[] {
  const own = (resource: 'candidates' | 'jobs'): CaseHead => ({
    port: `${resource}.${port}`,
    name: `${resource}: ${name}`
  })
  return [
    defineCase('lists', own('candidates'), (harness) => body(createCandidateRows(harness))),
    defineCase('lists', own('jobs'), (harness) => body(createJobRows(harness)))
  ]
}

/** Creates a case for one resource. */
export function listCase (head: CaseHead, body: (harness: StorageHarness) => Promise<void>): StorageCase {
  return defineCase('lists', head, body)
}

/** Returns a candidate with default values. */
export function candidate (id: number, fields: Partial<SavedCandidate> = {}): SavedCandidate {
  const nothing = { headline: null, source_id: null, recruiter_id: null }
  return { id, full_name: `Name ${id}`, ...nothing, created_at: date, updated_at: date, ...fields }
}

/** Returns a job with default values. */
export function job (id: number, fields: Partial<SavedJob> = {}): SavedJob {
  return { id, name: `Name ${id}`, status: 'published', created_at: date, updated_at: date, ...fields }
}

/** Returns the ids of the candidates of acme that pass a filter, in ascending order. */
export async function candidateIds ({ storage }: StorageHarness, filter: CandidateFilter): Promise<number[]> {
  const rows = await storage.candidates.list('acme', {
    filter,
    sort: [byId],
    offset: 0,
    limit: 200,
    fields: candidateFields
  })
  return rows.map(({ id }) => id)
}

/** Returns the ids of the jobs of acme that pass a filter, in ascending order. */
export async function jobIds ({ storage }: StorageHarness, filter: JobFilter): Promise<number[]> {
  const rows = await storage.jobs.list('acme', { filter, sort: [byId], offset: 0, limit: 200, fields: jobFields })
  return rows.map(({ id }) => id)
}

/** Returns these fields of a row; `undefined` for a missing one. */
export function pick (row: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, Reflect.get(row, name)]))
}

function createCandidateRows (harness: StorageHarness): Rows {
  const { candidates } = harness.storage
  const list: Rows['list'] = ({ filter = {}, sort = [byId], offset = 0, limit = 200 } = {}, tenantSlug = 'acme') => {
    const renamed = sort.map(({ field, direction }) => ({
      field: field === 'name' ? ('full_name' as const) : field,
      direction
    }))
    return candidates.list(tenantSlug, { filter, sort: renamed, offset, limit, fields: candidateFields })
  }
  return {
    async save (samples, tenantSlug = 'acme') {
      const rows = samples.map(({ id, name, ...dates }) => candidate(id, { full_name: name, ...dates }))
      await harness.saveCandidates(tenantSlug, rows)
    },
    list,
    ids: async (query, tenantSlug) => (await list(query, tenantSlug)).map(({ id }) => id),
    find: (id, tenantSlug = 'acme') => candidates.find(tenantSlug, id, { fields: candidateFields }),
    count: (filter = {}, tenantSlug = 'acme') => candidates.count(tenantSlug, filter)
  }
}

function createJobRows (harness: StorageHarness): Rows {
  const { jobs } = harness.storage
  const list: Rows['list'] = ({ filter = {}, sort = [byId], offset = 0, limit = 200 } = {}, tenantSlug = 'acme') =>
    jobs.list(tenantSlug, { filter, sort, offset, limit, fields: jobFields })
  return {
    async save (samples, tenantSlug = 'acme') {
      await harness.saveJobs(tenantSlug, samples.map(({ id, ...fields }) => job(id, fields)))
    },
    list,
    ids: async (query, tenantSlug) => (await list(query, tenantSlug)).map(({ id }) => id),
    find: (id, tenantSlug = 'acme') => jobs.find(tenantSlug, id, { fields: jobFields }),
    count: (filter = {}, tenantSlug = 'acme') => jobs.count(tenantSlug, filter)
  }
}
