import type {
  CandidateFilter,
  CandidateRow,
  CandidateSortField,
  Id,
  IdKinds,
  JobFilter,
  JobRow,
  JobSortField,
  RowFields,
  RowSource
} from '../../ports/index.js'
import type { AnyStorageHarness, SavedCandidate, SavedJob, StorageHarness } from './harness.js'
import { findForm, fromSampleId, type IdForm, toSampleId } from './samples.js'

interface SyncQuery extends RowFields { after: number | null, limit: number }

/** The form of each id that a row holds. */
interface IdFields {
  id: IdForm
  source_id?: IdForm
  recruiter_id?: IdForm
}

/** The kinds of a harness, with the default of those that it leaves out. */
export function findKinds ({ ids }: AnyStorageHarness): IdKinds {
  return { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer', ...ids }
}

/** Returns a harness whose ids are numbers, each of which stands for one id of the storage. */
export function numberIds (harness: AnyStorageHarness): StorageHarness {
  const kinds = findKinds(harness)
  if (Object.values(kinds).every((kind) => kind === 'integer')) return harness as StorageHarness

  const { storage, saveCandidates, saveJobs, ...others } = harness as StorageHarness<Id, Id, Id, Id>
  const formOf = (name: keyof IdKinds): IdForm => findForm(kinds[name], harness.hasUuids === true)
  const candidate = { id: formOf('candidate'), source_id: formOf('source'), recruiter_id: formOf('recruiter') }
  const job = { id: formOf('job') }
  const toFilter = ({ recruiterId, ...filter }: CandidateFilter): CandidateFilter<Id> =>
    recruiterId === undefined ? filter : { ...filter, recruiterId: toSampleId(recruiterId, candidate.recruiter_id) }
  return {
    ...others,
    storage: {
      webhooks: storage.webhooks,
      deliveries: storage.deliveries,
      ...(storage.changes === undefined ? {} : { changes: storage.changes }),
      ...(storage.feed === undefined ? {} : { feed: storage.feed }),
      ...(storage.idempotency === undefined ? {} : { idempotency: storage.idempotency }),
      candidates: numberRows<
        CandidateRow,
        CandidateRow<Id, Id>,
        CandidateFilter,
        CandidateFilter<Id>,
        CandidateSortField
      >(storage.candidates, candidate, toFilter),
      jobs: numberRows<JobRow, JobRow<Id>, JobFilter, JobFilter, JobSortField>(storage.jobs, job, (filter) => filter),
      verify: async (published) => (await storage.verify?.(published && { ...published, ids: kinds })) ?? []
    },
    saveCandidates: (tenantSlug, rows) =>
      saveCandidates(
        tenantSlug,
        rows.map((row) => convert<SavedCandidate<Id, Id, Id>>(row, candidate, toSampleId))
      ),
    saveJobs: (tenantSlug, rows) =>
      saveJobs(
        tenantSlug,
        rows.map((row) => convert<SavedJob<Id>>(row, job, toSampleId))
      )
  }
}

function numberRows<Row extends { id: number }, OwnRow extends { id: Id }, Filter, OwnFilter, Field extends string> (
  source: RowSource<OwnRow, OwnFilter, Field, Id>,
  fields: IdFields,
  toFilter: (filter: Filter) => OwnFilter
): RowSource<Row, Filter, Field, number> {
  const toRow = (row: OwnRow): Row => convert<Row>(row, fields, fromSampleId)
  return {
    list: async (tenantSlug, query) =>
      (await source.list(tenantSlug, { ...query, filter: toFilter(query.filter) })).map(toRow),
    count: (tenantSlug, filter) => source.count(tenantSlug, toFilter(filter)),
    async find (tenantSlug, id, query) {
      const row = await source.find(tenantSlug, toSampleId(id, fields.id), query)
      return row === null ? null : toRow(row)
    },
    ...(source.listAfter === undefined
      ? {}
      : {
          async listAfter (tenantSlug: string, { after, ...query }: SyncQuery) {
            const rows =
              (await source.listAfter?.(tenantSlug, {
                after: after === null ? null : toSampleId(after, fields.id),
                ...query
              })) ?? []
            return rows.map(toRow)
          }
        }),
    ...(source.findMany === undefined
      ? {}
      : {
          async findMany (tenantSlug: string, ids: readonly number[], query: RowFields) {
            const rows =
              (await source.findMany?.(
                tenantSlug,
                ids.map((id) => toSampleId(id, fields.id)),
                query
              )) ?? []
            return rows.map((row) => (row === null ? null : toRow(row)))
          }
        })
  }
}

/** Returns a copy of a row with other ids; an absent or empty one stays. */
function convert<Row> (row: object, fields: IdFields, change: (id: never, form: IdForm) => unknown): Row {
  const copy: Record<string, unknown> = { ...row }
  for (const [field, form] of Object.entries(fields)) {
    const id = copy[field]
    if (id !== undefined && id !== null) copy[field] = change(id as never, form)
  }
  return copy as Row
}
