import type { Id, IdKind, IdKinds } from '../../../core/ports/index.js'
import { candidateFilters, jobFilters, type RowFilter, type RowFilters } from '../../../core/ports/lists.js'
import type {
  AnyStorageHarness, MakeKeyLookup, MakeStorage, SavedCandidate, SavedJob, StorageHarness
} from './harness.js'

/**
 * - `lists`: candidates and jobs
 * - `webhooks`: webhooks and their secrets
 * - `deliveries`: the queue and its log
 * - `tenancy`: another tenant's ids, in every method that takes an id
 * - `races`: concurrent callers
 * - `sync`: changes; a storage without them passes
 * - `idempotency`: stored responses to requests with `Idempotency-Key`; a storage without them passes
 */
export type StorageGroup = 'lists' | 'webhooks' | 'deliveries' | 'tenancy' | 'races' | 'sync' | 'idempotency'

interface Case<Group, Make> {
  group: Group
  /** A statement that is true if the case passes. Unique among all cases. */
  name: string
  /** The method under test, such as `deliveries.claimDue`. */
  port: string
  /** Resolves if the statement is true; otherwise rejects, usually with an `AssertionError`. */
  run (make: Make): Promise<void>
}

/** One conformance case for a storage. */
export interface StorageCase extends Case<StorageGroup, MakeStorage> {}

/** One conformance case for a key lookup. */
export interface KeyLookupCase extends Case<'keys', MakeKeyLookup> {}

/** Creates a case that runs on a new storage. Its ids are numbers, which stand for the storage's ids. */
export function defineCase (
  group: StorageGroup, head: Pick<StorageCase, 'port' | 'name'>, body: (harness: StorageHarness) => Promise<void>
): StorageCase {
  return defineIdCase(group, head, (harness) => body(numberIds(harness)))
}

/** Creates a case that uses the storage's own ids. */
export function defineIdCase (
  group: StorageGroup, head: Pick<StorageCase, 'port' | 'name'>, body: (harness: AnyStorageHarness) => Promise<void>
): StorageCase {
  return { group, ...head, run: (make) => runOn(make, (harness) => body(namedTenants(harness))) }
}

/** Runs `body` on a new harness and then closes it. */
export async function runOn<Harness extends { close? (): Promise<void> | void }> (
  make: () => Promise<Harness> | Harness, body: (harness: Harness) => Promise<void>
): Promise<void> {
  const harness = await make()
  try {
    await body(harness)
  } finally {
    await harness.close?.()
  }
}

export type IdForm = 'integer' | 'text' | 'uuid'

// In code point order. A storage that sorts by language or ignores case confuses some of them.
const digits = '!\'*-09AMZ\\_abmz~'

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
  const hex = form === 'text'
    ? Array.from(id, (digit) => digits.indexOf(digit).toString(16)).join('')
    : id.replace(/^(.{8})-(.{4})-.(.{3})-.(.).*$/, '$1$2$3$4')
  const number = Number.parseInt(hex, 16)
  return toSampleId(number, form) === id ? number : id
}

/** The form of each id in a row. */
interface IdFields {
  id: IdForm
  source_id?: IdForm
  recruiter_id?: IdForm
}

/** Returns the kinds of a harness's ids, with defaults. */
export function findKinds ({ ids }: AnyStorageHarness): IdKinds {
  return { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer', ...ids }
}

/** Wraps a harness so that its ids are numbers, each of which stands for one of the storage's ids. */
export function numberIds (harness: AnyStorageHarness): StorageHarness {
  const kinds = findKinds(harness)
  if (Object.values(kinds).every((kind) => kind === 'integer')) return harness as StorageHarness

  const { storage, saveCandidates, saveJobs, ...others } = harness as StorageHarness<Id, Id, Id, Id>
  const formOf = (name: keyof IdKinds): IdForm => findForm(kinds[name], harness.hasUuids === true)
  const candidate = { id: formOf('candidate'), source_id: formOf('source'), recruiter_id: formOf('recruiter') }
  const job = { id: formOf('job') }
  const toOwnId = (id: unknown, form: IdForm): Id => toSampleId(Number(id), form)
  const toFilter = (filters: RowFilters) => (filter: object): object =>
    Object.fromEntries(Object.entries(filter).map(([name, value]) => {
      const declared: RowFilter | undefined = filters[name as keyof RowFilters]
      return [name, declared?.test === 'id' ? toSampleId(value, formOf(declared.id)) : value]
    }))
  return {
    ...others,
    storage: {
      ...storage,
      candidates: numberRows(storage.candidates, candidate, toFilter(candidateFilters)),
      jobs: numberRows(storage.jobs, job, toFilter(jobFilters)),
      verify: async (published) => (await storage.verify?.(published && { ...published, ids: kinds })) ?? []
    },
    saveCandidates: (tenantSlug, rows) =>
      saveCandidates(tenantSlug, rows.map((row) => convert<SavedCandidate<Id, Id, Id>>(row, candidate, toOwnId))),
    saveJobs: (tenantSlug, rows) =>
      saveJobs(tenantSlug, rows.map((row) => convert<SavedJob<Id>>(row, job, toOwnId)))
  }
}

/** Wraps a source of rows so that the ids in arguments and results are numbers. */
function numberRows<Source extends object> (
  source: object, fields: IdFields, toFilter: (filter: object) => object
): Source {
  const toId = (id: unknown): Id => toSampleId(Number(id), fields.id)

  function toOwn (argument: unknown): unknown {
    if (Array.isArray(argument)) return argument.map(toId)
    if (!isObject(argument)) return typeof argument === 'number' ? toId(argument) : argument
    const { filter, after } = argument
    return {
      ...argument, ...isObject(filter) && { filter: toFilter(filter) }, ...typeof after === 'number' && { after: toId(after) }
    }
  }

  function toNumbered (result: unknown): unknown {
    if (Array.isArray(result)) return result.map(toNumbered)
    if (!isObject(result)) return result
    return 'rows' in result ? { ...result, rows: toNumbered(result.rows) } : convert(result, fields, fromSampleId)
  }

  return wrapPort(source, (name, [tenant, first, ...others]) =>
    [tenant, name === 'count' && isObject(first) ? toFilter(first) : toOwn(first), ...others], toNumbered) as Source
}

/** Wraps a port: its methods get other arguments, and their callers other results. */
function wrapPort<Port extends object> (
  port: Port, toArguments: (name: string, args: unknown[]) => unknown[], toResult: (result: unknown) => unknown
): Port {
  return new Proxy(port, {
    get (target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(method, target, toArguments(String(name), args))
        return result instanceof Promise ? result.then(toResult) : result
      }
    }
  })
}

/** Returns a copy of a row with converted ids. Absent ids and null stay. */
function convert<Row> (row: object, fields: IdFields, change: (id: unknown, form: IdForm) => unknown): Row {
  const copy: Record<string, unknown> = { ...row }
  for (const [field, form] of Object.entries(fields)) {
    const id = copy[field]
    if (id !== undefined && id !== null) copy[field] = change(id, form)
  }
  return copy as Row
}

/** Wraps a harness with `tenantId`: cases pass the names of tenants, and the storage gets their ids. */
export function namedTenants (harness: AnyStorageHarness): AnyStorageHarness {
  const { storage, tenantId: findId } = harness
  if (findId === undefined) return harness
  const names = new Map<string, string>()

  const toId = (name: string): string => {
    const id = findId(name)
    names.set(id, name)
    return id
  }

  /** The first argument of a call for a tenant is its id; `renameTenant` takes two tenants, a claim the holders. */
  function toStored (argument: unknown): unknown {
    if (typeof argument === 'string') return toId(argument)
    if (isObject(argument) && isObject(argument.places) && argument.places.heldBy instanceof Map) {
      const heldBy = new Map(Array.from(argument.places.heldBy, ([name, held]) => [toId(String(name)), held]))
      return { ...argument, places: { ...argument.places, heldBy } }
    }
    if (!isObject(argument) || !('slug' in argument) || typeof argument.id !== 'string') return argument
    return { ...argument, id: toId(argument.id) }
  }

  /** Results contain tenants as `tenantId`. */
  function toNamed (result: unknown): unknown {
    if (Array.isArray(result)) return result.map(toNamed)
    if (!isObject(result)) return result
    return Object.fromEntries(Object.entries(result).map(([name, value]) =>
      [name, name === 'tenantId' ? names.get(String(value)) : toNamed(value)]))
  }

  const tenantsOf: Record<string, number> = { isRecorded: 0, renameTenant: 2 }
  const toArguments = (name: string, args: unknown[]): unknown[] =>
    args.map((argument, index) => index < (tenantsOf[name] ?? 1) ? toStored(argument) : argument)

  // The strings passed to `holds` are environments, not tenants.
  const ports = Object.entries(storage).map(([name, port]: [string, unknown]) =>
    [name, name === 'holds' || !isObject(port) ? port : wrapPort(port, toArguments, toNamed)])
  return {
    ...harness,
    storage: { ...storage, ...Object.fromEntries(ports) },
    saveCandidates: (name, rows) => harness.saveCandidates(toId(name), rows),
    saveJobs: (name, rows) => harness.saveJobs(toId(name), rows)
  }
}

/** Bytes, such as a secret, are not converted. */
function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
}
