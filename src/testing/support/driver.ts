import type {
  AttemptResult, ClaimedDelivery, ClaimOptions, Delivery, DeliveryStore, HealthNotice, HealthRule, NewEvent, NewWebhook,
  RecordedEvent, ReplaySelection, Webhook, WebhookStore
} from '../../ports/index.js'
import type { CaseHead, StorageCase, StorageGroup } from './case.js'
import { defineCase } from './case.js'
import { exactly, given } from './expect.js'
import type { Exactly } from './expect.js'
import type { StorageHarness } from './harness.js'
import { type Attempted, createEvent, createWebhook, firstRows, lenient } from './samples.js'
import { wait } from './wait.js'

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
  attempt(createResult: (lease: Attempted) => AttemptResult, rule: HealthRule): Promise<HealthNotice[]>
  /** Claims and confirms all notices. */
  takeNotices(): Promise<HealthNotice[]>
  /** Returns the log of a webhook, oldest first. */
  log(webhook: Pick<Webhook, 'id'>, tenantSlug?: string): Promise<Delivery[]>
  /** Replays all `undelivered` events. */
  replay(webhook: Webhook, changes?: Partial<ReplaySelection>): ReturnType<DeliveryStore['replay']>
  /** Counts all `undelivered` events. */
  countReplay(webhook: Webhook, changes?: Partial<ReplaySelection>): ReturnType<DeliveryStore['countReplay']>
}

/** Creates a case about webhooks and deliveries. */
export function benchCase (
  group: StorageGroup,
  head: CaseHead,
  body: (driver: StorageDriver) => Promise<void>
): StorageCase {
  return defineCase(group, head, (harness) => body(createBench(harness)))
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
      await driver.emit()
      return driver.recordAttempts([createResult(await driver.claimOne())], rule)
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
