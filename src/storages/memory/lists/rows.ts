import type {
  CandidateRow, CandidateSortField, Id, IdKinds, JobFilter, JobRow, JobSortField
} from '../../../core/ports/index.js'
import { candidateFilters, type CandidateFilterOf, jobFilters } from '../../../core/ports/lists.js'
import { parseOptionalText, parseReference, parseRowDates, parseRowId, parseText } from '../checks.js'
import type { EditableRows, RowKind, WholeRows } from './row-source.js'

/** The type of an omitted option `ids`. */
export type IntegerIds = Partial<Record<keyof IdKinds, 'integer'>>

/** The type of one id, where `Ids` is the type of the option `ids`: `string` for `'string'`, otherwise `number`. */
export type IdOf<Ids extends Partial<IdKinds>, Name extends keyof IdKinds> = Name extends keyof Ids
  ? IdOfKind<Ids[Name]>
  : number

type IdOfKind<Kind> = Kind extends 'string' ? string : number

interface DatesInput {
  /** RFC 3339. @default now */
  created_at?: string
  /** RFC 3339. @default created_at */
  updated_at?: string
}

/** The known fields of a candidate in memory. */
interface CandidateInput<CandidateId extends Id, SourceId extends Id, RecruiterId extends Id> extends DatesInput {
  /** Unique within the tenant. A positive integer, or text with the option `ids`. */
  id: CandidateId
  full_name: string
  /** @default null */
  headline?: string | null
  /** @default null */
  source_id?: SourceId | null
  /** @default null */
  recruiter_id?: RecruiterId | null
}

/**
 * A candidate to store. Other fields are stored too; `candidateFields` can publish them. The union accepts both typed
 * objects, which have no index signature, and literals with other fields.
 */
export type MemoryCandidate<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> =
  | CandidateInput<CandidateId, SourceId, RecruiterId>
  | (CandidateInput<CandidateId, SourceId, RecruiterId> & Record<string, unknown>)

/** The candidates of all tenants. */
export type MemoryCandidateSource<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> = WholeRows<
  CandidateRow<CandidateId, SourceId>,
  CandidateFilterOf<{ source: SourceId, recruiter: RecruiterId }>,
  CandidateSortField
> & EditableRows<MemoryCandidate<CandidateId, SourceId, RecruiterId>>

/** A stored candidate: no field is absent, and dates are in UTC. */
interface StoredCandidate extends CandidateRow<Id, Id> {
  recruiter_id: Id | null
  created_at: string
  updated_at: string
}

/** The known fields of a job in memory. */
interface JobInput<JobId extends Id> extends DatesInput {
  /** Unique within the tenant. A positive integer, or text with the option `ids`. */
  id: JobId
  name: string
  status: string
}

/** A job to store. Other fields are stored too; `jobFields` can publish them. */
export type MemoryJob<JobId extends Id = number> = JobInput<JobId> | JobInput<JobId> & Record<string, unknown>

/** The jobs of all tenants. */
export type MemoryJobSource<JobId extends Id = number> =
  WholeRows<JobRow<JobId>, JobFilter, JobSortField> & EditableRows<MemoryJob<JobId>>

/** A stored job: no field is absent, and dates are in UTC. */
interface StoredJob extends JobRow<Id> {
  created_at: string
  updated_at: string
}

export const candidateKind = ({ candidate, source, recruiter }: IdKinds): RowKind<StoredCandidate> => ({
  filters: candidateFilters,

  parse (fields, path, now) {
    const dates = parseRowDates(fields, path, now)
    return {
      id: parseRowId(fields.id, `${path}.id`, candidate),
      full_name: parseText(fields.full_name, `${path}.full_name`),
      headline: parseOptionalText(fields.headline, `${path}.headline`),
      source_id: parseReference(fields.source_id, `${path}.source_id`, source),
      recruiter_id: parseReference(fields.recruiter_id, `${path}.recruiter_id`, recruiter),
      ...dates
    }
  }
})

export const jobKind = ({ job }: IdKinds): RowKind<StoredJob> => ({
  filters: jobFilters,

  parse (fields, path, now) {
    const dates = parseRowDates(fields, path, now)
    return {
      id: parseRowId(fields.id, `${path}.id`, job),
      name: parseText(fields.name, `${path}.name`),
      status: parseText(fields.status, `${path}.status`),
      ...dates
    }
  }
})
