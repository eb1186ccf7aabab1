import { setTimeout } from 'node:timers/promises'
import type {
  AttemptResult, ClaimedDelivery, ClaimedNotice, ClaimOptions, Delivery, HealthNotice, HealthRule, NewEvent, NewWebhook,
  RecordedAndClaimed, RecordedEvent, RemoveOptions, RenameOptions, ReplaySelection, Webhook
} from '../../../core/ports/index.js'
import { defineCase, type StorageCase, type StorageGroup } from './case.js'
import { exactly, type Exactly, given, holds, rejects } from './expect.js'
import type { StorageHarness } from './harness.js'
import { type Attempted, createEvent, createWebhook, firstRows, lenient, named } from './samples.js'

const maxClaims = 10
const maxTries = 100
const undelivered: ReplaySelection = {
  include: 'undelivered', eventTypes: null, eventIds: null, since: null, until: null, limit: 100
}

interface WithTenant { tenantSlug?: string }

/** A storage under test, with helpers for common steps. They act for the tenant `acme` by default. */
export type StorageDriver = ReturnType<typeof createDriver>

function createDriver (harness: StorageHarness) {
  const { webhooks, deliveries } = harness.storage
  let events = 0

  /** Advances the storage's clock, or waits in real time if the harness cannot. */
  async function wait (ms: number): Promise<void> {
    if (harness.advance === undefined) await setTimeout(ms + marginMs)
    else await harness.advance(ms)
  }

  /** Creates an active webhook for `candidate.created`. */
  async function addWebhook (
    { tenantSlug = 'acme', ...changes }: Partial<NewWebhook> & WithTenant = {}
  ): Promise<Webhook> {
    const id = await webhooks.nextId(tenantSlug)
    const webhook = { ...createWebhook(id, tenantSlug), ...changes }
    const created = await webhooks.create(tenantSlug, webhook, { maxPerTenant: 50 })
    return given(created, 'create returns a webhook below maxPerTenant')
  }

  /** Records a `candidate.created` with the next id: evt_1, evt_2 and so on. */
  async function emit (
    { tenantSlug = 'acme', ...changes }: Partial<NewEvent> & WithTenant = {}
  ): Promise<RecordedEvent> {
    return deliveries.record(tenantSlug, { ...createEvent(`evt_${++events}`), ...changes })
  }

  async function emitMany (count: number, changes?: { type?: string } & WithTenant): Promise<void> {
    for (let i = 0; i < count; i++) await emit(changes)
  }

  /** Claims up to 100 deliveries for ten minutes. */
  async function claim (changes?: Partial<ClaimOptions>): Promise<ClaimedDelivery[]> {
    return deliveries.claimDue({ limit: 100, perEndpoint: 100, leaseMs: 600_000, ...changes })
  }

  /** Records attempts and claims up to 100 deliveries for ten minutes. */
  async function recordAndClaim (
    results: AttemptResult[], changes?: Partial<ClaimOptions>
  ): Promise<RecordedAndClaimed> {
    return deliveries.recordAndClaim(results, lenient, { limit: 100, perEndpoint: 100, leaseMs: 600_000, ...changes })
  }

  /** Claims `count` deliveries, and fails if fewer are due. */
  async function claimAll<Count extends number> (
    count: Count, changes?: Partial<ClaimOptions>
  ): Promise<Exactly<ClaimedDelivery, Count>> {
    return exactly(await claim({ limit: count, ...changes }), count, 'due deliveries claimed')
  }

  /** Claims one delivery, and fails if none is due. */
  async function claimOne (changes?: Partial<ClaimOptions>): Promise<ClaimedDelivery> {
    return (await claimAll(1, changes))[0]
  }

  /** Records `count` events and claims `count` deliveries. */
  async function lease<Count extends number> (
    count: Count, changes?: Partial<ClaimOptions>
  ): Promise<Exactly<ClaimedDelivery, Count>> {
    await emitMany(count)
    return claimAll(count, changes)
  }

  /** Records an event and claims one delivery. */
  async function leaseOne (changes?: Partial<ClaimOptions>): Promise<ClaimedDelivery> {
    return (await lease(1, changes))[0]
  }

  /** Claims until nothing is due, because concurrent claims may each miss deliveries that another has locked. */
  async function claimRest (): Promise<ClaimedDelivery[]> {
    const claimed: ClaimedDelivery[] = []
    // Without a limit, a storage that forgets its leases would loop forever.
    for (let i = 0, size = -1; i < maxClaims && size < claimed.length; i++) {
      size = claimed.length
      claimed.push(...await claim())
    }
    return claimed
  }

  /** Claims up to ten notices. By default they can be claimed again immediately. */
  async function claimNotices (
    changes?: { limit?: number, leaseMs?: number, environment?: string }
  ): Promise<ClaimedNotice[]> {
    return deliveries.claimNotices({ limit: 10, leaseMs: 0, ...changes })
  }

  /** Claims and confirms all notices. */
  async function takeNotices (): Promise<HealthNotice[]> {
    const claimed = await claimNotices({ limit: 100, leaseMs: 600_000 })
    for (const { noticeId } of claimed) await deliveries.confirmNotice(noticeId)
    return claimed.map(({ notice }) => notice)
  }

  /** Records results, retries those of locked deliveries, and takes notices. By default no webhook is disabled. */
  async function recordAttempts (results: AttemptResult[], rule: HealthRule = lenient): Promise<HealthNotice[]> {
    let left = results
    for (let tries = 0; tries < maxTries && left.length > 0; tries++) {
      const locked = new Set((await deliveries.recordAttempts(left, rule)).map(({ deliveryId }) => deliveryId))
      left = left.filter(({ deliveryId }) => locked.has(deliveryId))
      if (left.length > 0) await wait(5)
    }
    return takeNotices()
  }

  /** Claims a delivery and records this result. Returns the notices. */
  async function complete (
    createResult: (lease: Attempted) => AttemptResult, rule?: HealthRule
  ): Promise<HealthNotice[]> {
    return recordAttempts([createResult(await claimOne())], rule)
  }

  /** Records an event, claims a delivery and records this result. Returns the notices. */
  async function attempt (
    createResult: (lease: Attempted) => AttemptResult, rule?: HealthRule
  ): Promise<HealthNotice[]> {
    await emit()
    return complete(createResult, rule)
  }

  return {
    harness,
    webhooks,
    deliveries,
    wait,
    addWebhook,
    emit,
    emitMany,
    claim,
    recordAndClaim,
    claimAll,
    claimOne,
    lease,
    leaseOne,
    claimRest,
    recordAttempts,
    complete,
    attempt,
    claimNotices,
    takeNotices,
    /** Deactivates and reactivates a webhook, so that its pending deliveries are skipped. */
    async skipPending (webhookId: number): Promise<void> {
      await webhooks.update('acme', webhookId, { status: 'inactive' })
      await webhooks.update('acme', webhookId, { status: 'active' })
    },
    /** Returns the log of a webhook, oldest first. */
    log: ({ id }: Pick<Webhook, 'id'>, tenantSlug = 'acme') => deliveries.list(tenantSlug, id, firstRows),
    /** Replays all `undelivered` events. */
    replay: ({ id }: Pick<Webhook, 'id'>, changes?: Partial<ReplaySelection>, tenantSlug = 'acme') =>
      deliveries.replay(tenantSlug, id, { ...undelivered, ...changes }),
    /** Counts all `undelivered` events. */
    countReplay: ({ id }: Pick<Webhook, 'id'>, changes?: Partial<ReplaySelection>, tenantSlug = 'acme') =>
      deliveries.countReplay(tenantSlug, id, { ...undelivered, ...changes }),
    /** Erases a subject and returns the number of its events. */
    async erase (subject = 'candidate:42', tenantSlug = 'acme'): Promise<number> {
      return (await deliveries.erase(tenantSlug, subject)).events
    },
    /** Renames `acme` to `globex`. By default secrets stay as they are. */
    rename: (options?: Partial<RenameOptions>) =>
      webhooks.renameTenant(named('acme'), named('globex'), { reseal: (secret) => secret, ...options }),
    /** Removes `acme` and up to 100 of its events. */
    remove: (options?: Partial<RemoveOptions>) => webhooks.removeTenant('acme', { limit: 100, ...options })
  }
}

/** Creates a case about a method, such as `deliveries.record`, or `record` if the port is the usual one. */
type DefineCase<Subjects extends unknown[]> =
  (port: string, name: string, body: (...subjects: Subjects) => Promise<void>) => StorageCase

/** Returns a function that creates cases about webhooks and deliveries. */
export function benchCases (group: StorageGroup, usualPort: string = group): DefineCase<[StorageDriver]> {
  return (port, name, body) =>
    defineCase(group, { port: port.includes('.') ? port : `${usualPort}.${port}`, name }, (harness) =>
      body(createDriver(harness)))
}

/** Returns a function that creates cases with the same first step, whose result is their second argument. */
export function casesWith<Subject> (
  setUp: (driver: StorageDriver) => Promise<Subject>, group: StorageGroup, usualPort?: string
): DefineCase<[StorageDriver, Subject]> {
  const define = benchCases(group, usualPort)
  return (port, name, body) => define(port, name, async (t) => body(t, await setUp(t)))
}

/** Returns a function that creates cases about an active webhook that subscribes to `candidate.created`. */
export function webhookCases (group: StorageGroup, usualPort?: string): DefineCase<[StorageDriver, Webhook]> {
  return casesWith((t) => t.addWebhook(), group, usualPort)
}

/** Returns a function that creates cases about an optional part of a storage. A storage without the part passes. */
export function optionalCases<Subject> (
  group: StorageGroup, usualPort: string, extend: (driver: StorageDriver) => Subject | null
): DefineCase<[Subject]> {
  const define = benchCases(group, usualPort)
  return (port, name, body) => define(port, name, async (driver) => {
    const extended = extend(driver)
    if (extended !== null) await body(extended)
  })
}

/** Follows pages from a position to the end. Returns their items and the last position. */
export async function followPages<Item> (
  read: (after: string | null) => Promise<{ items: readonly Item[], position: string, hasMore: boolean } | null>,
  start: string | null, limit: number
): Promise<{ items: Item[], position: string }> {
  const items: Item[] = []
  for (let after = start; ;) {
    const page = given(await read(after), 'the page after a position')
    holds(page.items.length <= limit, `a page has at most ${limit} items`)
    items.push(...page.items)
    if (!page.hasMore) return { items, position: page.position }
    after = page.position
  }
}

export function eventIds (claimed: readonly ClaimedDelivery[]): string[] {
  return claimed.map(({ eventId }) => eventId)
}

/** Returns the status and the number of attempts of each delivery of a log. */
export function progress (log: readonly Delivery[]): Array<[status: string, attempts: number]> {
  return log.map(({ status, attempt_count: attempts }) => [status, attempts])
}

export function statuses (log: readonly Delivery[]): string[] {
  return log.map(({ status }) => status)
}

/** Makes `count` concurrent calls and returns all results. */
export function atOnce<Value> (count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)))
}

const marginMs = 20
const pollMs = 5
const patienceMs = 5000

/** Waits in real time until the condition holds. Returns `false` if it does not hold within 5 s. */
export async function eventually (condition: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs && !await condition(); waitedMs += pollMs) await setTimeout(pollMs)
  return condition()
}

interface TransactionSteps<Result> {
  write (transaction: unknown): Promise<Result>
  /** Checks the result of the write before its transaction ends. */
  check? (result: Result): Promise<void> | void
  /** Checks the storage after the rollback and after the commit. */
  look (isWritten: boolean): Promise<void>
}

/**
 * Checks that a write commits and rolls back with the host's transaction, and is rejected with one that has ended. A
 * storage without transactions rejects all.
 */
export async function followsTransaction<Result> (
  { harness }: StorageDriver, what: string, { write, check, look }: TransactionSteps<Result>
): Promise<void> {
  if (harness.begin === undefined) {
    await rejects(write({}), `${what} with a transaction`)
    return look(false)
  }
  for (const how of ['rollback', 'commit'] as const) {
    const ended = await harness.begin()
    await ended[how]()
    await rejects(write(ended.transaction), `${what} with a transaction that has ended`)
  }
  for (const how of ['rollback', 'commit'] as const) {
    const open = await harness.begin()
    const result = await write(open.transaction)
    await check?.(result)
    await open[how]()
    await look(how === 'commit')
  }
}
