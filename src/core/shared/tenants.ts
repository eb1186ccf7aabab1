import { RecruitingApiError } from './errors.js'
import { assertOption, findNearestName, findUnknownName, show } from './read-options.js'
import { isPlainText, isTenantSlug, tenantSlugRule } from './text.js'
import type { Clock, Tenant, TenantState, WebhookStore } from '../ports/index.js'
import { createCallCache } from './cached.js'
import { withinTime } from './clock.js'

/** A tenant of a call, by its slug. */
interface TenantBySlug {
  /**
   * The tenant's slug: 1 to 100 characters without control characters. The option `tenantId` resolves it to an id.
   * Cannot be combined with `tenantId`.
   * @default this or `tenantId` is required
   */
  tenantSlug: string
}

/** A tenant of a call, by its id. */
interface TenantById {
  /**
   * The tenant's id as the option `tenantId` returns it: an integer, or 1 to 200 characters. Nothing is looked up, so
   * the call works while the slug moves to another tenant, and in the transaction that creates the tenant. Without the
   * option, the id is the slug.
   * @default this or `tenantSlug` is required
   */
  tenantId: string | number
}

/** The tenant of a call by code: by its slug or its id, never both. */
export type TenantReference = (TenantBySlug & { tenantId?: undefined }) | (TenantById & { tenantSlug?: undefined })

/** The first argument of calls about a tenant. Text is short for `{ tenantSlug }`. */
export type TenantArgument = string | TenantReference

/** A checked reference: either the slug or the id is `null`. */
export type CheckedReference = { slug: string, id: null } | { slug: null, id: string }

/** Calls throw `invalid_input`; `emit` and `erase` throw `invalid_event` for a malformed slug or id. */
type FaultCode = 'invalid_input' | 'invalid_event'

/** The rule for the ids of tenants, for messages. */
export const tenantIdRule = 'an integer, or text of 1 to 200 characters without control characters'

/** The names of both fields, for checks of unknown names. */
export const tenantNames = ['tenantSlug', 'tenantId'] as const

/** Returns a tenant's id as text; `null` if the value is no valid id. */
export function parseTenantId (value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value)
  return isPlainText(value, 200) ? value : null
}

/** Reads `tenantSlug` or `tenantId` from an argument with other fields. Throws `invalid_input` if it has both. */
export function readTenant (fields: object, code: FaultCode = 'invalid_input'): CheckedReference {
  const [slug, id]: unknown[] = tenantNames.map((name) => Reflect.get(fields, name))
  if (id === undefined) return { slug: readSlug(slug, code), id: null }
  if (slug !== undefined) reject('tenantId', 'none, because tenantSlug is given', id)
  return { slug: null, id: parseTenantId(id) ?? reject('tenantId', tenantIdRule, id, code) }
}

/** Reads an argument that is only a tenant. Throws `invalid_input`. */
export function readTenantArgument (value: unknown): CheckedReference {
  if (typeof value !== 'object' || value === null) return readTenant({ tenantSlug: value })
  const unknown = findUnknownName(value, tenantNames)
  if (unknown !== undefined) reject(unknown, `a known name such as ${findNearestName(unknown, tenantNames)}`, unknown)
  return readTenant(value)
}

/** Returns the slug of a reference, or its id as text, for logs and audits. */
export function showTenant (reference: TenantArgument): string {
  return typeof reference === 'string' ? reference : String(reference.tenantSlug ?? reference.tenantId)
}

function readSlug (value: unknown, code: FaultCode): string {
  return isTenantSlug(value) ? value : reject('tenantSlug', tenantSlugRule, value, code)
}

function reject (field: string, expected: string, value: unknown, code: FaultCode = 'invalid_input'): never {
  throw new RecruitingApiError(code, `${field}: expected ${expected}, got ${show(value)}`, field)
}

/** Returns the id of the tenant with this slug; `null` if there is none. */
export type TenantIdLookup = (tenantSlug: string) => string | number | null | Promise<string | number | null>

/**
 * Returns the slug of the tenant with this id; `null` if it is unknown. `transaction` is the one passed to the call, so
 * that the lookup can read a tenant that it creates.
 */
export type TenantSlugLookup = (tenantId: string, transaction: unknown) => string | null | Promise<string | null>

/** Finds tenants by slug, and for the host's calls also by id. */
export interface Tenants {
  /**
   * Returns the tenant; `null` if there is none, or if the slug is resting. Rejects if the option `tenantId` fails.
   * Uses the cache, if there is one.
   */
  find (slug: string): Promise<Tenant | null>
  /**
   * Returns the id of a call's tenant. Looks nothing up for a reference by id. Throws `unknown_tenant` and
   * `tenant_resting`. With a `transaction`, which may use the last connection, it never waits for the storage: the
   * storage itself rejects resting slugs.
   */
  getId (reference: CheckedReference, transaction?: unknown): Promise<string>
  /** Also returns the slug, which bodies show; the id as text if the slug is unknown. Like `find`, uses the cache. */
  get (reference: CheckedReference, transaction?: unknown): Promise<Tenant>
  /** Returns a tenant's slug; `null` if it is unknown. Rejects if the option `tenantSlug` fails. */
  findSlug (id: string, transaction?: unknown): Promise<string | null>
  /** Returns whether a tenant that `find` has returned is suspended. */
  isSuspended (id: string): boolean
  /** Reloads the states of tenants, so that this process uses new ones immediately. */
  refresh (): Promise<void>
  /** Clears the cache. */
  forget (): void
  /** Whether the option `tenantId` is set. Slugs never rest then, because a reused slug has another id. */
  hasIds: boolean
}

interface TenantSettings {
  /** `null` if the slug is the id. */
  tenantId: TenantIdLookup | null
  /** Only with `tenantId`. */
  tenantSlug: TenantSlugLookup | null
  /** 0 disables the cache. */
  tenantCacheSeconds?: number
  webhooks: Pick<WebhookStore, 'listStates'>
  clock: Clock
}

const timeoutMs = 5000

/** Creates the finder for the API and the host's calls. */
export function createTenants (settings: TenantSettings): Tenants {
  const { tenantId, tenantSlug, tenantCacheSeconds = 0, webhooks, clock } = settings
  const states = createTenantStates(webhooks, clock)
  const lookups = tenantId === null ? null : createLookups(tenantId, tenantSlug, clock)
  return {
    ...lookups === null ? tenantsBySlug(states) : tenantsById(lookups, tenantCacheSeconds * 1000, clock, states),
    isSuspended: (id) => states.findKnown(id)?.suspendedSince != null,
    refresh: states.refresh,
    forget: states.forget
  }
}

type TenantStates = ReturnType<typeof createTenantStates>

type Finder = Pick<Tenants, 'find' | 'getId' | 'get' | 'findSlug' | 'hasIds'>

interface Lookups {
  findId (slug: string): Promise<string | null>
  findSlug: Tenants['findSlug']
}

function createLookups (tenantId: TenantIdLookup, tenantSlug: TenantSlugLookup | null, clock: Clock): Lookups {
  return {
    findId: async (slug) => readFoundId(await answerOf(tenantId(slug), 'tenantId', clock)),
    findSlug: createSlugLookup(tenantSlug, clock)
  }
}

function tenantsById (lookups: Lookups, ttlMs: number, clock: Clock, states: TenantStates): Finder {
  const cached = ttlMs === 0 ? lookups : cacheLookups(lookups, ttlMs, clock, states)
  return {
    hasIds: true,
    async find (slug) {
      const id = await cached.findId(slug)
      if (id === null) return null
      await states.find(id)
      return { slug, id }
    },
    getId: async ({ slug, id }) => id ?? await lookups.findId(slug) ?? rejectUnknown(slug),
    async get (reference, transaction) {
      const id = reference.id ?? await cached.findId(reference.slug) ?? rejectUnknown(reference.slug)
      return { id, slug: reference.slug ?? await cached.findSlug(id, transaction) ?? id }
    },
    findSlug: lookups.findSlug
  }
}

/** Caches answers, but uses them only while this process knows all renames up to a few seconds ago. */
function cacheLookups ({ findId, findSlug }: Lookups, ttlMs: number, clock: Clock, states: TenantStates): Lookups {
  const cache = createCallCache<string | null>({ ttlMs, clock })
  let seenRenames = 0

  function isUsable (): boolean {
    const renames = states.countRenames()
    if (renames === null || renames === seenRenames) return renames !== null
    cache.clear()
    seenRenames = renames
    return true
  }

  return {
    findId: (slug) => isUsable() ? cache.call(`slug ${slug}`, () => findId(slug)) : findId(slug),
    async findSlug (id, transaction) {
      if (!isUsable()) return findSlug(id, transaction)
      const name = `id ${id}`
      const call = (): Promise<string | null> => cache.call(name, () => findSlug(id))
      if (transaction === undefined) return call()
      const known = cache.peek(name)
      if (known !== null) return known
      // The transaction may use the last connection, so it waits for no other one. Its answer may be rolled back, so
      // later calls use another one. If that fails, they ask again.
      call().catch(() => {})
      return findSlug(id, transaction)
    }
  }
}

/** Wraps the host's lookup, if any, and checks its results. */
export function createSlugLookup (lookup: TenantSlugLookup | null, clock: Clock): Tenants['findSlug'] {
  return async (id, transaction) =>
    lookup === null ? null : readFoundSlug(await answerOf(lookup(id, transaction), 'tenantSlug', clock))
}

function tenantsBySlug (states: TenantStates): Finder {
  async function getId (reference: CheckedReference, transaction?: unknown): Promise<string> {
    const slug = slugOf(reference)
    const state = transaction === undefined ? await states.find(slug) : states.findKnown(slug)
    if (state?.restsUntil != null) throw tenantResting(slug, state.restsUntil)
    return slug
  }

  return {
    hasIds: false,
    find: async (slug) => (await states.find(slug))?.restsUntil == null ? { slug, id: slug } : null,
    getId,
    async get (reference, transaction) {
      const id = await getId(reference, transaction)
      return { id, slug: id }
    },
    findSlug: async (id) => id
  }
}

export function slugOf ({ slug, id }: CheckedReference): string {
  if (slug !== null) return slug
  if (isTenantSlug(id)) return id
  const problem = `tenantId: expected ${tenantSlugRule}, because without the option tenantId the slug is the id`
  throw new RecruitingApiError('invalid_input', problem, 'tenantId')
}

export function tenantResting (slug: string, until: string): RecruitingApiError {
  const problem = `tenantSlug: ${JSON.stringify(slug)} was renamed or removed, and can be used again at ${until}`
  return new RecruitingApiError('tenant_resting', problem, 'tenantSlug', { until })
}

function rejectUnknown (slug: string): never {
  const problem = `tenantSlug: the option tenantId returned null for ${JSON.stringify(slug)}`
  throw new RecruitingApiError('unknown_tenant', problem, 'tenantSlug')
}

/** Throws for a call by id that needs the slug. */
export function rejectNameless (id: string): never {
  const problem = `tenantId: the option tenantSlug returned no slug for ${JSON.stringify(id)}; pass tenantSlug instead`
  throw new RecruitingApiError('unknown_tenant', problem, 'tenantId')
}

/** Waits for the host's function for up to `timeoutMs`. */
async function answerOf<T> (answer: T | Promise<T>, option: string, clock: Clock): Promise<T> {
  // A synchronous result needs no timer.
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

/** An hour, the longest time that anything remembers a slug's owner, plus `maxAgeMs`. */
export const restSeconds = 61 * 60

const refreshMs = 2000
const maxAgeMs = 60_000
const recentMs = 5000

/**
 * Caches the states of tenants: renamed and removed ones rest in the storage until nothing remembers their previous
 * owner, and suspended ones wait to be resumed. Requests wait for the storage only if there was none for 5 seconds.
 */
export function createTenantStates (
  webhooks: Pick<WebhookStore, 'listStates'>, clock: Pick<Clock, 'now' | 'monotonic'>
) {
  let states = new Map<string, TenantState>()
  let readAtMs = -Infinity
  let reading: Promise<void> | null = null
  let renames = 0

  async function read (): Promise<void> {
    const startedMs = clock.monotonic()
    const listed = await webhooks.listStates()
    const isNew = ({ tenantId, renamedAt }: TenantState): boolean =>
      renamedAt !== null && renamedAt !== states.get(tenantId)?.renamedAt
    if (listed.some(isNew)) renames++
    states = new Map(listed.map((state) => [state.tenantId, state]))
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

  /** Whether the rest has ended by this process's clock. Only the storage's clock decides. */
  function hasEnded (tenantId: string): boolean {
    const end = states.get(tenantId)?.restsUntil
    return end != null && Date.parse(end) <= clock.now()
  }

  /** Starts a read if the last one is old. If it fails, the next call tries again. */
  function readIfOld (): void {
    if (isOlderThan(refreshMs)) readOnce().catch(() => {})
  }

  /** Like `find`, but from the cache, which is empty at first. Never waits for the storage. */
  function findKnown (tenantId: string): TenantState | undefined {
    readIfOld()
    return states.get(tenantId)
  }

  /** Reads the states again. Called after this process has changed one. */
  async function refresh (): Promise<void> {
    // A read in progress may miss later changes.
    await reading?.catch(() => {})
    await readOnce()
  }

  return {
    findKnown,
    refresh,
    forget: (): void => { renames++ },

    /**
     * Returns a number that is larger after each rename or removal that this process notices; `null` if it may not have
     * noticed one from more than five seconds ago.
     */
    countRenames (): number | null {
      readIfOld()
      return isOlderThan(recentMs) ? null : renames
    },

    /**
     * Returns a tenant's state; `undefined` for an ordinary one. Other processes notice a change within 5 seconds, or
     * within a minute while the storage fails.
     */
    async find (tenantId: string): Promise<TenantState | undefined> {
      if (isOlderThan(maxAgeMs) || hasEnded(tenantId)) await refresh()
      else if (isOlderThan(recentMs)) await readOnce().catch(() => {})
      return findKnown(tenantId)
    }
  }
}
