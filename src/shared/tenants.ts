import { RecruitingApiError } from '../errors.js'
import type { Clock, Tenant, WebhookStore } from '../ports/index.js'
import { withinTime } from './clock.js'
import { expect } from './expect.js'
import { isPlainText } from './text.js'

/** Returns the id of the tenant with this slug; `null` if there is none. */
export type TenantIdLookup = (tenantSlug: string) => string | number | null | Promise<string | number | null>

/** Finds tenants by their slugs. */
export interface Tenants {
  /** Returns the tenant; `null` if there is none, or if its name rests. Rejects if the option `tenantId` fails. */
  find (slug: string): Promise<Tenant | null>
  /**
   * The same for calls of the host. Also throws `unknown_tenant` and `tenant_resting`. Never waits for the storage if the host
   * has a `transaction`, which may hold the last connection: the storage refuses resting names itself.
   */
  get (slug: string, transaction?: unknown): Promise<Tenant>
  /** Reloads the resting names, so that this process knows new ones at once. */
  refresh (): Promise<void>
  /** Whether the option `tenantId` gives tenants ids, so that names need no rest. */
  hasIds: boolean
}

interface TenantSettings {
  /** `null` if the slug is the id. */
  tenantId: TenantIdLookup | null
  webhooks: Pick<WebhookStore, 'listResting'>
  clock: Clock
}

const timeoutMs = 5000

/** Creates the finder that the API and the calls of the host share. */
export function createTenants ({ tenantId, webhooks, clock }: TenantSettings): Tenants {
  return tenantId === null ? tenantsBySlug(createRestingNames(webhooks, clock)) : tenantsById(tenantId, clock)
}

/** A reused slug then has another id, so names need no rest. */
function tenantsById (tenantId: TenantIdLookup, clock: Clock): Tenants {
  async function find (slug: string): Promise<Tenant | null> {
    const answer = tenantId(slug)
    // A plain function needs no timer.
    const id = readAnswer(isPromise(answer) ? await withinTime(answer, timeoutMs, clock, 'tenantId') : answer)
    return id === null ? null : { slug, id }
  }

  return {
    hasIds: true,
    find,
    get: async (slug) => await find(slug) ?? refuseUnknown(slug),
    async refresh () {}
  }
}

function tenantsBySlug (resting: RestingNames): Tenants {
  return {
    hasIds: false,
    find: async (slug) => await resting.findEnd(slug) === null ? { slug, id: slug } : null,
    async get (slug, transaction) {
      const until = transaction === undefined ? await resting.findEnd(slug) : resting.findKnownEnd(slug)
      if (until !== null) throw tenantResting(slug, until)
      return { slug, id: slug }
    },
    refresh: () => resting.refresh()
  }
}

/** The error for a name that nothing can be stored under. */
export function tenantResting (slug: string, until: string): RecruitingApiError {
  const problem = `tenantSlug: ${JSON.stringify(slug)} was renamed or removed, and can be used again at ${until}`
  return new RecruitingApiError('tenant_resting', problem, 'tenantSlug', { until })
}

function refuseUnknown (slug: string): never {
  throw new RecruitingApiError('unknown_tenant', `tenantSlug: the option tenantId returned null for ${JSON.stringify(slug)}`, 'tenantSlug')
}

/** Returns the id of a tenant as text; `null` if it cannot be one. */
export function parseTenantId (value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value)
  return isPlainText(value, 200) ? value : null
}

/** The rule for the ids of tenants, for messages. */
export const tenantIdRule = 'an integer, or text of 1 to 200 characters without control characters'

function isPromise<T> (answer: T | Promise<T>): answer is Promise<T> {
  return typeof answer === 'object' && answer !== null && 'then' in answer
}

function readAnswer (value: unknown): string | null {
  // A host in plain JavaScript may return `undefined` for a missing row.
  if (value === null || value === undefined) return null
  const id = parseTenantId(value)
  expect(id !== null, 'tenantId', `a function that returns ${tenantIdRule}, or null`, value)
  return id
}

/** The names of renamed and removed tenants, which rest until nothing remembers their previous owner. */
interface RestingNames {
  /** Returns when the rest of a name ends; `null` if it does not rest. Known within a minute in every process. */
  findEnd (slug: string): Promise<string | null>
  /** The same from the copy in this process, which is empty at first. Never waits for the storage. */
  findKnownEnd (slug: string): string | null
  /** Reads the names again. Called after this process has renamed or removed a tenant. */
  refresh (): Promise<void>
}

/** Long enough for everything that remembers a name for an hour, and for `maxAgeMs`. */
export const restSeconds = 61 * 60

const refreshMs = 2000
const maxAgeMs = 60_000

/** Keeps a copy of the names that rest in the storage. Requests wait for it only after a minute without requests. */
export function createRestingNames (webhooks: Pick<WebhookStore, 'listResting'>, clock: Pick<Clock, 'now'>): RestingNames {
  let ends = new Map<string, string>()
  let readAtMs = -Infinity
  let reading: Promise<void> | null = null

  async function read (): Promise<void> {
    const startedMs = clock.now()
    const names = await webhooks.listResting()
    ends = new Map(names.map(({ tenantId, until }) => [tenantId, until]))
    readAtMs = startedMs
  }

  function readOnce (): Promise<void> {
    reading ??= read().finally(() => { reading = null })
    return reading
  }

  function isOlderThan (ms: number): boolean {
    const ageMs = clock.now() - readAtMs
    // A clock that was set back makes the age negative.
    return ageMs < 0 || ageMs > ms
  }

  /** Whether our clock says that the rest has ended. Only the storage knows. */
  function hasEnded (slug: string): boolean {
    const end = ends.get(slug)
    return end !== undefined && Date.parse(end) <= clock.now()
  }

  function findKnownEnd (slug: string): string | null {
    // If this fails, the next call tries again.
    if (isOlderThan(refreshMs)) readOnce().catch(() => {})
    return ends.get(slug) ?? null
  }

  return {
    findKnownEnd,

    async findEnd (slug) {
      if (isOlderThan(maxAgeMs) || hasEnded(slug)) await readOnce()
      return findKnownEnd(slug)
    },

    async refresh () {
      // A read in progress may miss the change.
      await reading?.catch(() => {})
      await readOnce()
    }
  }
}
