import type { FieldType, Id, OwnCondition, RowQuery, RowSource } from '../../../core/ports/index.js'
import { candidateFilters, jobFilters, type RowFilter } from '../../../core/ports/lists.js'
import { defineCase, defineIdCase, type StorageCase, type StorageGroup } from '../support/case.js'
import type { AnyStorageHarness, SavedCandidate, SavedJob, StorageHarness } from '../support/harness.js'
import { order } from '../support/samples.js'

type Resource = 'candidates' | 'jobs'

type SampleFilter = Partial<Record<string, Id>> | { own: OwnCondition[] }

/** A candidate or a job to save, with defaults. `name` means `full_name` of a candidate. */
export interface Sample<RowId extends Id = number> extends Partial<Omit<SavedCandidate<RowId, Id, Id>, 'full_name'>> {
  id: RowId
  name?: string
  status?: string
  own?: Partial<Record<string, string | number | boolean>>
}

/** A query for either resource. By default it selects the first 200 rows by ascending id. */
interface SampleQuery {
  filter?: SampleFilter
  /** Fields to sort by, as in the API: `-id` means descending. */
  sort?: readonly string[]
  type?: FieldType
  offset?: number
  limit?: number
  fields?: readonly string[]
}

export const resources = {
  candidates: {
    idKind: 'candidate',
    fields: ['id', 'full_name', 'headline', 'source_id'],
    further: ['recruiter_id', 'created_at', 'updated_at'],
    filters: candidateFilters
  },
  jobs: {
    idKind: 'job', fields: ['id', 'name', 'status'], further: ['created_at', 'updated_at'], filters: jobFilters
  }
} as const

const date = '2026-01-01T00:00:00.000Z'

type Test = RowFilter['test']

type NamedFilter<Of extends Test> = Extract<RowFilter, { test: Of }> & { name: string }

function listFilters<Of extends Test> (resource: Resource, tests: readonly Of[]): Array<NamedFilter<Of>> {
  const filters = Object.entries<RowFilter>(resources[resource].filters).map(([name, filter]) => ({ name, ...filter }))
  return filters.filter((filter): filter is NamedFilter<Of> => tests.some((test) => test === filter.test))
}

/** Candidates or jobs, with one interface for both. The tenant is `acme` by default. */
export type Rows<RowId extends Id = number> = ReturnType<typeof openRows<RowId>>

/** Creates the same case for candidates and jobs. In the group `sync`, a source without the methods passes. */
export function rowCases (
  port: string, name: string, body: (rows: Rows) => Promise<void>, group: StorageGroup = 'lists'
): StorageCase[] {
  return [resourceCase('candidates', port, name, body, group), resourceCase('jobs', port, name, body, group)]
}

export function resourceCase (
  resource: Resource, port: string, name: string, body: (rows: Rows, harness: StorageHarness) => Promise<void>,
  group: StorageGroup = 'lists'
): StorageCase {
  return defineCase(group, { port: `${resource}.${port}`, name: `${resource}: ${name}` }, async (harness) => {
    const rows = openRows(harness, resource)
    if (group !== 'sync' || rows.isSynced) await body(rows, harness)
  })
}

export function filterCasesOf<Of extends Test> (
  tests: readonly Of[], create: (resource: Resource, filter: NamedFilter<Of>) => StorageCase[]
): StorageCase[] {
  return (['candidates', 'jobs'] as const).flatMap((resource) =>
    listFilters(resource, tests).flatMap((filter) => create(resource, filter)))
}

/** Creates the same case for candidates and jobs, with the storage's own ids. */
export function ownRowCases (
  port: string, name: string, body: (rows: Rows<Id>, harness: AnyStorageHarness) => Promise<void>
): StorageCase[] {
  return (['candidates', 'jobs'] as const).map((resource) =>
    defineIdCase('lists', { port: `${resource}.${port}`, name: `${resource}: ${name}` }, (harness) =>
      body(openRows(harness as StorageHarness<Id, Id, Id, Id>, resource), harness)))
}

/** Returns these fields of a row; `undefined` for a missing one. */
export function pick (row: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, Reflect.get(row, name)]))
}

export function openRows<RowId extends Id> (harness: StorageHarness<RowId, RowId, RowId, RowId>, resource: Resource) {
  const { fields } = resources[resource]
  const source: RowSource<{ id: RowId }, SampleFilter, string, RowId> = harness.storage[resource]

  function toQuery (
    { filter = {}, sort = ['id'], type, offset = 0, limit = 200, fields: wanted = fields }: SampleQuery = {}
  ): RowQuery<SampleFilter> {
    const items = order<string>(...sort).map(({ field, direction }) => ({
      field: field === 'name' && resource === 'candidates' ? 'full_name' : field,
      direction,
      ...type === undefined || field === 'id' ? {} : { type }
    }))
    return { filter, sort: items, offset, limit, fields: wanted }
  }

  const list = (query?: SampleQuery, tenant = 'acme'): Promise<Array<{ id: RowId }>> =>
    source.list(tenant, toQuery(query))

  const ownFields = harness.ownFields?.[resource] ?? {}

  async function save (samples: ReadonlyArray<Sample<RowId>>, tenant = 'acme'): Promise<void> {
    const usual = Object.fromEntries(Object.entries(ownFields).map(([type, field]) =>
      [field, usualValues[type as FieldType]]))
    const withOwn = <Row extends object>(row: Row, { own }: Sample<RowId>): Row => ({ ...row, ...usual, ...own })
    if (resource === 'jobs') await harness.saveJobs(tenant, samples.map((sample) => withOwn(toJob(sample), sample)))
    else await harness.saveCandidates(tenant, samples.map((sample) => withOwn(toCandidate(sample), sample)))
  }

  return {
    ...resources[resource],
    exactFilters: listFilters(resource, ['id', 'text']),
    afterFilters: listFilters(resource, ['after']),
    ownFields,
    isSynced: source.listAfter !== undefined || source.findMany !== undefined,
    save,
    saveIds: (ids: readonly RowId[], tenant?: string) => save(ids.map((id) => ({ id })), tenant),
    toRow: (sample: Sample<RowId>): object => resource === 'jobs' ? toJob(sample) : toCandidate(sample),
    list,
    ids: async (query?: SampleQuery, tenant?: string) => (await list(query, tenant)).map(({ id }) => id),
    /** Returns the rows of one page and its total; `null` without the method. */
    page: async (query: SampleQuery, tenant = 'acme') => await source.page?.(tenant, toQuery(query)) ?? null,
    find: (id: RowId, tenant = 'acme', wanted: readonly string[] = fields) =>
      source.find(tenant, id, { fields: wanted }),
    count: (filter: SampleFilter = {}, tenant = 'acme') => source.count(tenant, filter),
    listAfter: async (after: RowId | null, limit: number, tenant = 'acme') =>
      (await source.listAfter?.(tenant, { after, limit, fields }) ?? []).map(({ id }) => id),
    findMany: async (ids: readonly RowId[], tenant = 'acme') =>
      (await source.findMany?.(tenant, ids, { fields }) ?? []).map((row) => row && row.id)
  }
}

/** Values of own fields that a case does not set. */
const usualValues: Record<FieldType, string | number | boolean> = {
  text: 'usual', integer: 1, boolean: false, time: date
}

function toCandidate<RowId extends Id> (
  { id, name = `Name ${id}`, status, own, ...fields }: Sample<RowId>
): SavedCandidate<RowId, RowId, RowId> {
  const nothing = { headline: null, source_id: null, recruiter_id: null }
  const candidate = { id, full_name: name, ...nothing, created_at: date, updated_at: date, ...fields }
  return candidate as SavedCandidate<RowId, RowId, RowId>
}

function toJob<RowId extends Id> (sample: Sample<RowId>): SavedJob<RowId> {
  const { id, name = `Name ${id}`, status = 'published', created_at: created, updated_at: updated } = sample
  return { id, name, status, created_at: created ?? date, updated_at: updated ?? date }
}
