import { setTimeout } from 'node:timers/promises'
import type {
  AttemptResult, ClaimedDelivery, ClaimOptions, Delivery, DeliveryStore, HealthNotice, HealthRule, NewEvent, NewWebhook,
  RecordedEvent, ReplaySelection, Webhook, WebhookStore
} from '../../ports/index.js'
import { defineCase, type StorageCase, type StorageGroup } from './case.js'
import { exactly, type Exactly, given, holds } from './expect.js'
import type { StorageHarness } from './harness.js'
import { type Attempted, createEvent, createWebhook, firstRows, lenient } from './samples.js'

const maxClaims = 10
const maxTries = 100
const undelivered: ReplaySelection = {
  include: 'undelivered',
  eventTypes: null,
  eventIds: null,
  since: null,
  until: null,
  limit: 100
}

interface WithTenant { tenantSlug?: string }

/** A storage under test, with helpers for common steps. They act for the tenant `acme` by default. */
export interface StorageDriver {
  harness: StorageHarness
  webhooks: WebhookStore
  deliveries: DeliveryStore
  /** Lets time pass on the storage's clock. */
  wait(ms: number): Promise<void>
  /** Creates an active webhook for `candidate.created`. */
  addWebhook(changes?: Partial<NewWebhook> & WithTenant): Promise<Webhook>
  /** Records a `candidate.created` with the next id: evt_1, evt_2 and so on. */
  emit(changes?: Partial<NewEvent> & WithTenant): Promise<RecordedEvent>
  /** Records `count` events. */
  emitMany(count: number, changes?: { type?: string } & WithTenant): Promise<void>
  /** Claims up to 100 deliveries for ten minutes. */
  claim(changes?: Partial<ClaimOptions>): Promise<ClaimedDelivery[]>
  /** Claims `count` deliveries, and fails if fewer are due. */
  claimAll<Count extends number>(
    count: Count,
    changes?: Partial<ClaimOptions>
  ): Promise<Exactly<ClaimedDelivery, Count>>
  /** Claims one delivery, and fails if none is due. */
  claimOne(changes?: Partial<ClaimOptions>): Promise<ClaimedDelivery>
  /** Records `count` events and claims `count` deliveries. */
  lease<Count extends number>(count: Count, changes?: Partial<ClaimOptions>): Promise<Exactly<ClaimedDelivery, Count>>
  /** Records an event and claims one delivery. */
  leaseOne(changes?: Partial<ClaimOptions>): Promise<ClaimedDelivery>
  /**
   * Claims repeatedly until nothing is due, because concurrent claims may each miss deliveries that another has locked.
   */
  claimRest(): Promise<ClaimedDelivery[]>
  /**
   * Completes attempts, repeats those of locked deliveries, and takes the notices. Without a rule no webhook is
   * disabled.
   */
  recordAttempts(results: AttemptResult[], rule?: HealthRule): Promise<HealthNotice[]>
  /** Records an event, claims it and completes it with this result. Returns the notices. */
  attempt(createResult: (lease: Attempted) => AttemptResult, rule?: HealthRule): Promise<HealthNotice[]>
  /** Claims and confirms all notices. */
  takeNotices(): Promise<HealthNotice[]>
  /** Returns the log of a webhook, oldest first. */
  log(webhook: Pick<Webhook, 'id'>, tenantSlug?: string): Promise<Delivery[]>
  /** Replays all `undelivered` events. */
  replay(webhook: Webhook, changes?: Partial<ReplaySelection>): ReturnType<DeliveryStore['replay']>
  /** Counts all `undelivered` events. */
  countReplay(webhook: Webhook, changes?: Partial<ReplaySelection>): ReturnType<DeliveryStore['countReplay']>
}

/** Creates a case of a group, for example about `deliveries.record`, or `record` if that is the usual port. */
export type DefineCase<Driver> = (port: string, name: string, body: (t: Driver) => Promise<void>) => StorageCase

/** Returns a function that creates cases about webhooks and deliveries. */
export function benchCases (group: StorageGroup, usualPort: string = group): DefineCase<StorageDriver> {
  return (port, name, body) =>
    defineCase(group, { port: port.includes('.') ? port : `${usualPort}.${port}`, name }, (harness) =>
      body(createBench(harness)))
}

/** Returns a function that creates cases with a further subject. A storage without the subject passes. */
export function optionalCases<Driver> (
  group: StorageGroup, usualPort: string, extend: (driver: StorageDriver) => Driver | null
): DefineCase<Driver> {
  const define = benchCases(group, usualPort)
  return (port, name, body) => define(port, name, async (driver) => {
    const extended = extend(driver)
    if (extended !== null) await body(extended)
  })
}

/** Follows pages after a position to the end, and returns their items and the last position. */
export async function followPages<Item> (
  read: (after: string | null) => Promise<{ items: readonly Item[], position: string, hasMore: boolean } | null>,
  start: string | null,
  limit: number
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

function createBench (harness: StorageHarness): StorageDriver {
  const { webhooks, deliveries } = harness.storage
  let events = 0

  const driver: StorageDriver = {
    harness,
    webhooks,
    deliveries,
    wait: (ms) => wait(harness, ms),

    async addWebhook ({ tenantSlug = 'acme', ...changes } = {}) {
      const id = await webhooks.nextId(tenantSlug)
      const created = await webhooks.create(tenantSlug, { ...createWebhook(id, tenantSlug), ...changes }, 50)
      return given(created, 'create returns a webhook below maxPerTenant')
    },

    emit ({ tenantSlug = 'acme', ...changes } = {}) {
      return deliveries.record(tenantSlug, { ...createEvent(`evt_${++events}`), ...changes })
    },

    async emitMany (count, changes) {
      for (let i = 0; i < count; i++) await driver.emit(changes)
    },

    claim (changes) {
      return deliveries.claimDue({ limit: 100, perEndpoint: 100, leaseMs: 600_000, ...changes })
    },

    async claimAll (count, changes) {
      return exactly(await driver.claim({ limit: count, ...changes }), count, 'due deliveries claimed')
    },

    async claimOne (changes) {
      const [claimed] = await driver.claimAll(1, changes)
      return claimed
    },

    async lease (count, changes) {
      await driver.emitMany(count)
      return driver.claimAll(count, changes)
    },

    async leaseOne (changes) {
      const [claimed] = await driver.lease(1, changes)
      return claimed
    },

    async claimRest () {
      const claimed: ClaimedDelivery[] = []
      // Without a limit, a storage that forgets its leases would loop forever.
      for (let i = 0, size = -1; i < maxClaims && size < claimed.length; i++) {
        size = claimed.length
        claimed.push(...await driver.claim())
      }
      return claimed
    },

    async recordAttempts (results, rule = lenient) {
      let left = results
      for (let tries = 0; tries < maxTries && left.length > 0; tries++) {
        const locked = new Set((await deliveries.recordAttempts(left, rule)).map(({ deliveryId }) => deliveryId))
        left = left.filter(({ deliveryId }) => locked.has(deliveryId))
        if (left.length > 0) await wait(harness, 5)
      }
      return driver.takeNotices()
    },

    async takeNotices () {
      const claimed = await deliveries.claimNotices({ limit: 100, leaseMs: 600_000 })
      for (const { noticeId } of claimed) await deliveries.confirmNotice(noticeId)
      return claimed.map(({ notice }) => notice)
    },

    async attempt (createResult, rule) {
      return driver.recordAttempts([createResult(await driver.leaseOne())], rule)
    },

    log: (webhook, tenantSlug = 'acme') => deliveries.list(tenantSlug, webhook.id, firstRows),

    replay: (webhook, changes) => deliveries.replay('acme', webhook.id, { ...undelivered, ...changes }),

    countReplay: (webhook, changes) => deliveries.countReplay('acme', webhook.id, { ...undelivered, ...changes })
  }
  return driver
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

/** Lets time pass on the storage's clock; in real time if the harness cannot advance it. */
async function wait ({ advance }: StorageHarness, ms: number): Promise<void> {
  if (advance === undefined) await setTimeout(ms + marginMs)
  else await advance(ms)
}

/** Waits in real time until the condition holds. Returns `false` if it does not hold within 5 s. */
export async function eventually (condition: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs && !await condition(); waitedMs += pollMs) await setTimeout(pollMs)
  return condition()
}

/** Returns a committed transaction and one rolled back; `[]` for a storage without transactions. */
export async function endedTransactions (harness: StorageHarness): Promise<unknown[]> {
  if (harness.begin === undefined) return []
  const committed = await harness.begin()
  await committed.commit()
  const rolledBack = await harness.begin()
  await rolledBack.rollback()
  return [committed.transaction, rolledBack.transaction]
}
