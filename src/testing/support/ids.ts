import type {
  CandidateFilter,
  CandidateRow,
  CandidateSortField,
  Id,
  IdKind,
  IdKinds,
  JobFilter,
  JobRow,
  JobSortField,
  RowFields,
  RowSource
} from '../../ports/index.js'
import type { AnyStorageHarness, SavedCandidate, SavedJob, StorageHarness } from './harness.js'

/** The form of ids. */
export type IdForm = 'integer' | 'text' | 'uuid'

// In code point order. A storage that orders by a language or ignores letter case confuses some of them.
const digits = '!\'*-09AMZ\\_abmz~'

/** Returns the form of ids of a kind. */
export function findForm (kind: IdKind, hasUuids: boolean): IdForm {
  if (kind === 'integer') return 'integer'
  return hasUuids ? 'uuid' : 'text'
}

/** Returns the id that stands for a positive integer. The ids are in the order of their integers. */
export function toSampleId (number: number, form: IdForm): Id {
  if (form === 'integer') return number
  const hex = number.toString(16).padStart(16, '0')
  if (form === 'text') return hex.replace(/./g, (digit) => digits.charAt(Number.parseInt(digit, 16)))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${hex.slice(15)}00-000000000000`
}

/** Returns the integer that an id stands for, or text that shows the id if it stands for none. */
function fromSampleId (id: unknown, form: IdForm): unknown {
  if (form === 'integer') return id
  if (typeof id !== 'string') return `${typeof id} ${String(id)}`
  const hex =
    form === 'text' ? Array.from(id, (digit) => digits.indexOf(digit).toString(16)).join('') : id.replaceAll('-', '')
  const number = Number.parseInt(
    form === 'text' ? hex : `${hex.slice(0, 12)}${hex.slice(13, 16)}${hex.slice(17, 18)}`,
    16
  )
  return toSampleId(number, form) === id ? number : id
}

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

type Method = (...args: unknown[]) => unknown

/** Returns a harness that takes the names of the cases as tenants, over a storage that takes the ids of `tenantId`. */
export function namedTenants (harness: AnyStorageHarness): AnyStorageHarness {
  const { storage, tenantId: findId } = harness
  if (findId === undefined) return harness
  const names = new Map<string, string>()

  const toId = (name: string): string => {
    const id = findId(name)
    names.set(id, name)
    return id
  }

  /** The first argument of a call for a tenant is its id; `renameTenant` takes two tenants. */
  function toStored (argument: unknown): unknown {
    if (typeof argument === 'string' && !['candidate', 'job'].includes(argument)) return toId(argument)
    if (!isObject(argument) || !('slug' in argument) || typeof argument.id !== 'string') return argument
    return { ...argument, id: toId(argument.id) }
  }

  /** Results name tenants as `tenantId`. */
  function toNamed (result: unknown): unknown {
    if (Array.isArray(result)) return result.map(toNamed)
    if (!isObject(result)) return result
    const { tenantId: id, notice, ...others } = result
    return {
      ...others,
      ...('notice' in result ? { notice: toNamed(notice) } : {}),
      ...('tenantId' in result ? { tenantId: names.get(String(id)) } : {})
    }
  }

  function wrap<Port extends object> (port: Port): Port {
    return new Proxy(port, {
      get (target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (first: unknown, second: unknown, ...others: unknown[]) => {
          const result: unknown = (method as Method).call(
            target,
            toStored(first),
            name === 'renameTenant' ? toStored(second) : second,
            ...others
          )
          return result instanceof Promise ? result.then(toNamed) : result
        }
      }
    })
  }

  // The texts of `holds` are environments.
  const ports = Object.entries(storage).map(([name, port]: [string, unknown]) =>
    [name, name === 'holds' || !isObject(port) ? port : wrap(port)])
  return {
    ...harness,
    storage: { ...storage, ...Object.fromEntries(ports) },
    saveCandidates: (name, rows) => harness.saveCandidates(toId(name), rows),
    saveJobs: (name, rows) => harness.saveJobs(toId(name), rows)
  }
}

/** Bytes, such as a secret, do not change. */
function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
}
