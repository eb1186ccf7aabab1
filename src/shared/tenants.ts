import { RecruitingApiError } from '../errors.js'
import { assertOption, findNearestName, findUnknownName, show } from './read-options.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from './text.js'
import type { Clock, Tenant, WebhookStore } from '../ports/index.js'
import { withinTime } from './clock.js'

/** A tenant of a call, by its slug. */
interface TenantBySlug {
  /**
   * The tenant: its slug of 1 to 100 characters without control characters, which the option `tenantId` resolves. Never
   * together with `tenantId`.
   * @default this or `tenantId` is required
   */
  tenantSlug: string
}

/** A tenant of a call, by its id. */
interface TenantById {
  /**
   * The tenant, by the id that the option `tenantId` returns for it: an integer, or 1 to 200 characters. It is not
   * looked up, so the call works while the slug changes hands, and in the transaction that creates the tenant.
   * Without the option it is the slug.
   * @default this or `tenantSlug` is required
   */
  tenantId: string | number
}

/** The tenant of a call by code: by its slug or its id, never both. */
export type TenantReference = (TenantBySlug & { tenantId?: undefined }) | (TenantById & { tenantSlug?: undefined })

/** The first argument of calls about a tenant. Text is short for `{ tenantSlug }`. */
export type TenantArgument = string | TenantReference

/** A checked reference: one of them is `null`. The id is text. */
export type CheckedReference = { slug: string, id: null } | { slug: null, id: string }

/** Calls throw `invalid_input`; `emit` and `erase` throw `invalid_event` for a malformed slug or id. */
type FaultCode = 'invalid_input' | 'invalid_event'

/** The rule for the ids of tenants, for messages. */
export const tenantIdRule = 'an integer, or text of 1 to 200 characters without control characters'

/** The names of both fields, for checks of unknown names. */
export const tenantNames = ['tenantSlug', 'tenantId'] as const

/** Returns the id of a tenant as text; `null` if it cannot be one. */
export function parseTenantId (value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value)
  return isPlainText(value, 200) ? value : null
}

/** Reads `tenantSlug` or `tenantId` of an argument with more fields. Throws `invalid_input` if it has both. */
export function readTenant (fields: object, code: FaultCode = 'invalid_input'): CheckedReference {
  const [slug, id]: unknown[] = tenantNames.map((name) => Reflect.get(fields, name))
  if (id === undefined) return { slug: readSlug(slug, code), id: null }
  if (slug !== undefined) refuse('tenantId', 'none, because tenantSlug is given', id)
  return { slug: null, id: parseTenantId(id) ?? refuse('tenantId', tenantIdRule, id, code) }
}

/** Reads an argument that is only a tenant. Throws `invalid_input`. */
export function readTenantArgument (value: unknown): CheckedReference {
  if (typeof value !== 'object' || value === null) return readTenant({ tenantSlug: value })
  const unknown = findUnknownName(value, tenantNames)
  if (unknown !== undefined) refuse(unknown, `a known name such as ${findNearestName(unknown, tenantNames)}`, unknown)
  return readTenant(value)
}

/** Returns the slug of a reference, or its id as text, for logs and audits. */
export function showTenant (reference: TenantArgument): string {
  return typeof reference === 'string' ? reference : String(reference.tenantSlug ?? reference.tenantId)
}

function readSlug (value: unknown, code: FaultCode): string {
  return isTenantSlug(value) ? value : refuse('tenantSlug', tenantSlugRule, value, code)
}

function refuse (field: string, expected: string, value: unknown, code: FaultCode = 'invalid_input'): never {
  throw new RecruitingApiError(code, `${field}: expected ${expected}, got ${show(value)}`, field)
}

/** Returns the id of the tenant with this slug; `null` if there is none. */
export type TenantIdLookup = (tenantSlug: string) => string | number | null | Promise<string | number | null>

/**
 * Returns the slug of the tenant with this id; `null` if it is not known. `transaction` is the one that was passed to
 * the call, so that the row of a tenant that it creates can be read.
 */
export type TenantSlugLookup = (tenantId: string, transaction: unknown) => string | null | Promise<string | null>

/** Finds tenants by their slugs, and for calls of the host also by their ids. */
export interface Tenants {
  /** Returns the tenant; `null` if there is none, or if its name rests. Rejects if the option `tenantId` fails. */
  find (slug: string): Promise<Tenant | null>
  /**
   * Returns the id of the tenant of a call. Nothing is looked up for a reference by id. Throws `unknown_tenant` and
   * `tenant_resting`. Never waits for the storage if the host has a `transaction`, which may hold the last connection:
   * the storage rejects resting names itself.
   */
  getId (reference: CheckedReference, transaction?: unknown): Promise<string>
  /** The same with the slug, which bodies and webhooks show; the id as text if it is not known. */
  get (reference: CheckedReference, transaction?: unknown): Promise<Tenant>
  /** Returns the slug of a tenant; `null` if it is not known. Rejects if the option `tenantSlug` fails. */
  findSlug (id: string, transaction?: unknown): Promise<string | null>
  /** Reloads the resting names, so that this process knows new ones at once. */
  refresh (): Promise<void>
  /** Whether the option `tenantId` gives tenants ids, so that names need no rest. */
  hasIds: boolean
}

interface TenantSettings {
  /** `null` if the slug is the id. */
  tenantId: TenantIdLookup | null
  /** Only with `tenantId`. */
  tenantSlug: TenantSlugLookup | null
  webhooks: Pick<WebhookStore, 'listResting'>
  clock: Clock
}

const timeoutMs = 5000

/** Creates the finder that the API and the calls of the host share. */
export function createTenants ({ tenantId, tenantSlug, webhooks, clock }: TenantSettings): Tenants {
  const finder = tenantId === null
    ? tenantsBySlug(createRestingNames(webhooks, clock))
    : tenantsById(tenantId, tenantSlug, clock)
  return {
    ...finder,
    async get (reference, transaction) {
      const id = await finder.getId(reference, transaction)
      return { id, slug: reference.slug ?? await finder.findSlug(id, transaction) ?? id }
    }
  }
}

/** A reused slug then has another id, so names need no rest. */
function tenantsById (
  tenantId: TenantIdLookup, tenantSlug: TenantSlugLookup | null, clock: Clock
): Omit<Tenants, 'get'> {
  async function find (slug: string): Promise<Tenant | null> {
    const id = readFoundId(await answerOf(tenantId(slug), 'tenantId', clock))
    return id === null ? null : { slug, id }
  }

  return {
    hasIds: true,
    find,
    getId: async ({ slug, id }) => id ?? (await find(slug) ?? refuseUnknown(slug)).id,
    findSlug: createSlugLookup(tenantSlug, clock),
    async refresh () {}
  }
}

/** Returns a lookup that checks the answers of the host's, if there is one. */
export function createSlugLookup (lookup: TenantSlugLookup | null, clock: Clock): Tenants['findSlug'] {
  return async (id, transaction) =>
    lookup === null ? null : readFoundSlug(await answerOf(lookup(id, transaction), 'tenantSlug', clock))
}

function tenantsBySlug (resting: ReturnType<typeof createRestingNames>): Omit<Tenants, 'get'> {
  return {
    hasIds: false,
    find: async (slug) => await resting.findEnd(slug) === null ? { slug, id: slug } : null,
    async getId (reference, transaction) {
      const slug = slugOf(reference)
      const until = transaction === undefined ? await resting.findEnd(slug) : resting.findKnownEnd(slug)
      if (until !== null) throw tenantResting(slug, until)
      return slug
    },
    findSlug: async (id) => id,
    refresh: () => resting.refresh()
  }
}

/** Returns the slug of a reference where slugs are the ids. */
export function slugOf ({ slug, id }: CheckedReference): string {
  if (slug !== null) return slug
  if (isTenantSlug(id)) return id
  const problem = `tenantId: expected ${tenantSlugRule}, because without the option tenantId the slug is the id`
  throw new RecruitingApiError('invalid_input', problem, 'tenantId')
}

/** The error for a name that nothing can be stored under. */
export function tenantResting (slug: string, until: string): RecruitingApiError {
  const problem = `tenantSlug: ${JSON.stringify(slug)} was renamed or removed, and can be used again at ${until}`
  return new RecruitingApiError('tenant_resting', problem, 'tenantSlug', { until })
}

function refuseUnknown (slug: string): never {
  const problem = `tenantSlug: the option tenantId returned null for ${JSON.stringify(slug)}`
  throw new RecruitingApiError('unknown_tenant', problem, 'tenantSlug')
}

/** Throws for a call by id that needs the slug. */
export function refuseNameless (id: string): never {
  const problem = `tenantId: the option tenantSlug returned no slug for ${JSON.stringify(id)}; give tenantSlug instead`
  throw new RecruitingApiError('unknown_tenant', problem, 'tenantId')
}

/** Waits for the host's function, but not for long. */
async function answerOf<T> (answer: T | Promise<T>, option: string, clock: Clock): Promise<T> {
  // A plain function needs no timer.
  return isPromise(answer) ? withinTime(answer, timeoutMs, clock, option) : answer
}

function isPromise<T> (answer: T | Promise<T>): answer is Promise<T> {
  return typeof answer === 'object' && answer !== null && 'then' in answer
}

function readFoundId (value: unknown): string | null {
  // A host in plain JavaScript may return `undefined` for a missing row.
  if (value === null || value === undefined) return null
  const id = parseTenantId(value)
  assertOption(id !== null, 'tenantId', `a function that returns ${tenantIdRule}, or null`, value)
  return id
}

function readFoundSlug (value: unknown): string | null {
  if (value === null || value === undefined) return null
  assertOption(isTenantSlug(value), 'tenantSlug', `a function that returns ${tenantSlugRule}, or null`, value)
  return value
}

/** Long enough for everything that remembers a name for an hour, and for `maxAgeMs`. */
export const restSeconds = 61 * 60

const refreshMs = 2000
const maxAgeMs = 60_000

/**
 * Keeps a copy of the names of renamed and removed tenants, which rest in the storage until nothing remembers their
 * previous owner. Requests wait for it only after a minute without requests.
 */
export function createRestingNames (
  webhooks: Pick<WebhookStore, 'listResting'>,
  clock: Pick<Clock, 'now' | 'monotonic'>
) {
  let ends = new Map<string, string>()
  let readAtMs = -Infinity
  let reading: Promise<void> | null = null

  async function read (): Promise<void> {
    const startedMs = clock.monotonic()
    const names = await webhooks.listResting()
    ends = new Map(names.map(({ tenantId, until }) => [tenantId, until]))
    readAtMs = startedMs
  }

  function readOnce (): Promise<void> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }

  function isOlderThan (ms: number): boolean {
    return clock.monotonic() - readAtMs > ms
  }

  /** Whether our clock says that the rest has ended. Only the storage knows. */
  function hasEnded (slug: string): boolean {
    const end = ends.get(slug)
    return end !== undefined && Date.parse(end) <= clock.now()
  }

  /** As `findEnd`, from the copy in this process, which is empty at first. Never waits for the storage. */
  function findKnownEnd (slug: string): string | null {
    // If this fails, the next call tries again.
    if (isOlderThan(refreshMs)) readOnce().catch(() => {})
    return ends.get(slug) ?? null
  }

  /** Reads the names again. Called after this process has renamed or removed a tenant. */
  async function refresh (): Promise<void> {
    // A read in progress may miss what has changed since it began.
    await reading?.catch(() => {})
    await readOnce()
  }

  return {
    findKnownEnd,
    refresh,

    /** Returns when the rest of a name ends; `null` if it does not rest. Known within a minute in every process. */
    async findEnd (slug: string): Promise<string | null> {
      if (isOlderThan(maxAgeMs) || hasEnded(slug)) await refresh()
      return findKnownEnd(slug)
    }
  }
}
