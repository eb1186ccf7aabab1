import { type RecruitingApiError, heldMessage, isHeldError } from '../../shared/errors.js'
import type { DeliverySettings } from '../options.js'
import type {
  ClaimOptions, ClaimedDelivery, Clock, DeliveryStore, HealthRule, Lease, AttemptResult
} from '../../ports/index.js'
import { waitUpTo } from '../../shared/clock.js'
import type { Capacity } from '../sending/capacity.js'
import { type AttemptDependencies, type AttemptSettings, createAttemptDelivery } from './attempt-delivery.js'

/** The `delivery` options that a worker needs, with defaults, and the rule that disables webhooks. */
interface WorkerSettings extends AttemptSettings,
  Pick<DeliverySettings, 'concurrency' | 'perEndpoint' | 'leaseMs' | 'pollMs' | 'closeGraceMs' | 'environment'> {
  healthRule: HealthRule
}

interface WorkerDependencies extends AttemptDependencies {
  deliveries: DeliveryStore
  capacity: Capacity
  /** Called after failed attempts were recorded: there may be notices for the host. Never rejects. */
  onFailures: () => Promise<void>
}

// Batches fast responses. Uses real time, not the delivery clock.
const gatherMs = 2
// While enough deliveries wait for a place, so that a longer batch delays none.
const longestGatherMs = 20

// Claims ahead as many deliveries as ended in this time, so that attempts continue while the storage answers.
const aheadMs = 60
// At most so many times `concurrency`, and `perEndpoint`.
const aheadFactor = 4
// The storage may end a longer claim before it has visited every webhook.
const completeMs = 50
// Another worker may have a place for a delivery that has waited this long.
const longestWaitMs = 1000
// Receivers accept signatures for five minutes.
const acceptedClockErrorMs = 60_000

/**
 * Claims due deliveries, attempts them and records the results, until it is closed. One turn records new results and
 * claims for the free places, while other attempts continue; if attempts end quickly, it claims more, which wait for a
 * place. A turn waits for the storage, so a slow storage gets fewer queries. A result that cannot be written keeps its
 * place and is written later.
 */
export function createWorker (dependencies: WorkerDependencies, settings: WorkerSettings) {
  const { deliveries, sender, capacity, clock, runtime, log, onFailures } = dependencies
  const attemptDelivery = createAttemptDelivery(dependencies, settings)
  const wakeup = createWakeup(clock)
  const waiting = createWaiting(capacity)
  const rate = createRate(runtime.clock)
  // By delivery: claimed, and neither recorded nor released.
  const leases = new Map<number, Lease>()
  const results = createResultWriter(deliveries, settings.healthRule, forget)
  // Claimed and never sent, and not released yet.
  let unsent: Lease[] = []
  let inFlight = 0
  let onIdle: () => void = () => {}
  let onEnough: () => void = () => {}
  let retryAt = Number.NEGATIVE_INFINITY
  let lastClaimAt: number | null = null
  let lastTurnAt = clock.monotonic()
  let held: RecruitingApiError | null = null
  // How far this clock is ahead of the storage's; 0 if both agree within a minute.
  let clockErrorMs = 0
  let isClosing = false
  let isAborted = false
  let running: Promise<void> | null = null
  let stopListening: () => void = () => {}
  let turnWaiters: Array<() => void> = []
  let dueWaiters: Array<(hasTakenAll: boolean) => void> = []
  let hasTakenAll = false

  async function run (): Promise<void> {
    while (!isClosing) {
      let isDone = false
      await attemptStep(async () => {
        await gather()
        wakeup.reset()
        isDone = await takeTurn()
      }, 'a turn failed unexpectedly, the next one tries again')
      const waitMs = waiting.size === 0 ? settings.pollMs : Math.min(settings.pollMs, longestWaitMs)
      await wakeup.wait(waitMs, { ignoreWakes: !isDone })
    }
  }

  /**
   * Waits a moment, so that deliveries recorded in one tick are claimed together, and results of attempts that end
   * close together are written together.
   */
  async function gather (): Promise<void> {
    await runtime.nextTick()
    if (results.size === 0 || inFlight === 0 || isEnough()) return
    const enough = new Promise<void>((resolve) => { onEnough = resolve })
    await waitUpTo(enough, hasManyWaiting() ? longestGatherMs : gatherMs, runtime.clock)
    onEnough = () => {}
  }

  function isEnough (): boolean {
    return isClosing || results.size >= settings.concurrency * (hasManyWaiting() ? 2 : 0.25)
  }

  function hasManyWaiting (): boolean {
    return waiting.size >= settings.concurrency / 4
  }

  /** Returns `false` if the storage failed. The next turn then waits, even if it is woken. */
  async function takeTurn (): Promise<boolean> {
    const waiters = dueWaiters
    dueWaiters = []
    hasTakenAll = false
    try {
      await releaseIdle()
      const hasResults = results.size > 0
      const isRecorded = hasResults && await attemptStep(recordAndClaim)
      const isClaimed = isRecorded || await attemptStep(claim)
      const isWritten = (isRecorded || !hasResults) && await attemptStep(writeLeftOver)
      if (isClaimed) lastTurnAt = clock.monotonic()
      return isClaimed && (isWritten || results.leftOver < settings.concurrency)
    } finally {
      for (const resolve of waiters) resolve(hasTakenAll)
      endTurn()
    }
  }

  async function attemptStep (step: () => Promise<void>, problem = 'storage failed, deliveries wait'): Promise<boolean> {
    try {
      await step()
      return true
    } catch (err) {
      log.error({ err }, problem)
      return false
    }
  }

  function endTurn (): void {
    const waiters = turnWaiters
    turnWaiters = []
    for (const resolve of waiters) resolve()
  }

  async function recordAndClaim (): Promise<void> {
    const options = claimOptions()
    const beganAt = clock.monotonic()
    let claimed: ClaimedDelivery[] = []
    const hasFailure = await results.writeNew(async (batch) => {
      if (options.limit === 0) return deliveries.recordAttempts(batch, settings.healthRule)
      const both = await deliveries.recordAndClaim(batch, settings.healthRule, options)
      claimed = both.claimed
      return both.later
    })
    if (options.limit > 0) accept(claimed, options, beganAt)
    // Without any, deliveries may be held, which only a claim reports.
    hasTakenAll &&= claimed.length > 0
    if (hasFailure) await onFailures()
  }

  async function claim (): Promise<void> {
    const options = claimOptions()
    const beganAt = clock.monotonic()
    if (options.limit > 0) accept(await claimUnlessHeld(options), options, beganAt)
  }

  async function writeLeftOver (): Promise<void> {
    if (results.leftOver === 0 || clock.monotonic() < retryAt) return
    retryAt = clock.monotonic() + settings.pollMs
    await results.writeLeftOver()
  }

  async function writeLast (): Promise<void> {
    if (await results.writeNew()) await onFailures()
    await results.writeLeftOver()
    if (results.leftOver > 0) throw new Error('deliveries are locked by other transactions')
  }

  function claimOptions (): ClaimOptions {
    const { concurrency, perEndpoint, leaseMs, environment } = settings
    const ahead = Math.min(aheadFactor * concurrency, Math.floor(rate.read() * aheadMs))
    const free = isClosing ? 0 : Math.max(0, capacity.free + ahead - waiting.size - results.leftOver)
    const heldBy = new Map(capacity.heldBy)
    for (const [tenantId, count] of waiting.countByTenant()) heldBy.set(tenantId, (heldBy.get(tenantId) ?? 0) + count)
    return {
      limit: free,
      perEndpoint,
      aheadPerEndpoint: ahead > 0 ? aheadFactor * perEndpoint : perEndpoint,
      leases: [...leases.values()],
      places: { free, heldBy },
      leaseMs,
      environment
    }
  }

  async function claimUnlessHeld (options: ClaimOptions): Promise<ClaimedDelivery[]> {
    try {
      const claimed = await deliveries.claimDue(options)
      if (held !== null) log.info({}, 'deliveries are no longer held')
      held = null
      return claimed
    } catch (err) {
      if (!isHeldError(err)) throw err
      if (held?.message !== err.message) log.error({ err }, heldMessage)
      held = err
      return []
    }
  }

  function accept (claimed: readonly ClaimedDelivery[], { limit }: ClaimOptions, beganAt: number): void {
    lastClaimAt = clock.now()
    compareClocks(lastClaimAt, claimed[0]?.claimedAt)
    for (const delivery of claimed) {
      leases.set(delivery.deliveryId, delivery)
      waiting.add(delivery, clock.monotonic())
    }
    startWaiting()
    // A claim can end early, also because of its time, and a tenant may have used up its share here.
    const isComplete = claimed.length < limit / 2 && clock.monotonic() - beganAt < completeMs
    hasTakenAll = isComplete && waiting.size === 0 && held === null &&
      [...capacity.heldBy.keys()].every(capacity.hasShare)
  }

  /** Resolves to whether the next turn claims everything that is due. */
  function takeDue (): Promise<boolean> {
    wakeup.wake()
    return new Promise((resolve) => {
      if (isClosing) resolve(false)
      else dueWaiters.push(resolve)
    })
  }

  function compareClocks (now: number, claimedAt: number | undefined): void {
    if (claimedAt === undefined) return
    const aheadMs = now - claimedAt
    const isWrong = Math.abs(aheadMs) > acceptedClockErrorMs
    if (isWrong && clockErrorMs === 0) {
      log.warn({ ahead_ms: aheadMs }, "the clock differs from the database's, whose time is used for signatures")
    }
    clockErrorMs = isWrong ? aheadMs : 0
  }

  function forget ({ deliveryId, fence }: Lease): void {
    if (leases.get(deliveryId)?.fence === fence) leases.delete(deliveryId)
  }

  /** Starts the deliveries that have a place. The others are released when they have waited too long. */
  function startWaiting (): void {
    if (isClosing) return
    const after = clock.monotonic() - longestWaitMs
    for (let next = waiting.take(after); next !== undefined; next = waiting.take(after)) {
      inFlight++
      const { webhookId, deliveryId } = next
      attempt(next).catch((err: unknown) => {
        log.error({ err, webhook_id: webhookId, delivery_id: deliveryId }, 'failed after an attempt')
      })
    }
  }

  async function releaseIdle (): Promise<void> {
    unsent.push(...waiting.takeOlder(clock.monotonic() - longestWaitMs))
    await release()
  }

  async function release (problem?: string): Promise<void> {
    const released = unsent
    if (released.length === 0) return
    unsent = []
    for (const lease of released) forget(lease)
    if (!await attemptStep(() => deliveries.release(released), problem)) unsent.push(...released)
  }

  /** Attempts a delivery. If something throws, the delivery is claimed again when its lease expires. */
  async function attempt (delivery: ClaimedDelivery): Promise<void> {
    try {
      const end = isAborted ? 'aborted' : await attemptDelivery(delivery, () => isAborted, clockErrorMs)
      if (end === 'aborted') unsent.push(delivery)
      else if (end === 'unsigned') forget(delivery)
      else results.add(end)
    } catch (err) {
      forget(delivery)
      log.error({
        err, webhook_id: delivery.webhookId, delivery_id: delivery.deliveryId, event_id: delivery.eventId
      }, 'attempt failed unexpectedly, the delivery waits')
    } finally {
      inFlight--
      capacity.release(delivery.tenantId, delivery.webhookId)
      rate.count()
      startWaiting()
      wakeup.wake()
      if (inFlight === 0) onIdle()
      if (inFlight === 0 || isEnough()) onEnough()
    }
  }

  function waitUntilIdle (): Promise<void> {
    return new Promise((resolve) => {
      onIdle = resolve
      if (inFlight === 0) resolve()
    })
  }

  /** Stops claiming, waits up to `closeGraceMs` for attempts, aborts the rest and releases their leases. */
  async function close (): Promise<void> {
    isClosing = true
    stopListening()
    wakeup.end()
    onEnough()
    await running
    for (const resolve of dueWaiters) resolve(false)
    const problem = 'storage failed on close, deliveries in flight will repeat when their leases expire'
    unsent.push(...waiting.takeOlder(Number.POSITIVE_INFINITY))
    await release(problem)
    const idle = waitUntilIdle()
    await waitUpTo(idle, settings.closeGraceMs, clock)
    isAborted = true
    capacity.abort()
    sender.abort()
    await idle
    await attemptStep(writeLast, problem)
    await release(problem)
    endTurn()
  }

  return {
    get inFlight (): number { return inFlight },
    /** When the storage last answered a claim, in milliseconds since the epoch; `null` if it never did. */
    get lastClaimAt (): number | null { return lastClaimAt },
    /** When the last turn without a failed claim ended, by `clock.monotonic`; initially the worker's creation. */
    get lastTurnAt (): number { return lastTurnAt },
    /** Starts claiming. Call it once. */
    start (): void {
      stopListening = deliveries.onDue(takeDue, (err) => {
        log.warn({ err }, 'PostgreSQL notifications no longer arrive, polling for due deliveries')
      })
      capacity.setWorker({
        isWanted: waiting.has,
        onTestReleased () {
          startWaiting()
          wakeup.wake()
        }
      })
      running ??= run()
    },
    /**
     * Resolves at the end of the current turn, or else of the next one. That begins when an attempt ends, a delivery is
     * recorded or `pollMs` has passed.
     */
    nextTurn: () => new Promise<void>((resolve) => { turnWaiters.push(resolve) }),
    close
  }
}

/** Lets a loop sleep on this clock until it is woken. */
function createWakeup (clock: Clock) {
  let isWoken = false
  let isEnded = false
  let isIgnoring = false
  let awake: () => void = () => {}

  return {
    /** Ends the current sleep, or else the next one. */
    wake (): void {
      isWoken = true
      if (!isIgnoring) awake()
    },
    /** Discards earlier calls of `wake`. */
    reset (): void {
      isWoken = false
    },
    /** Sleeps for up to `timeoutMs`. If `ignoreWakes`, ignores calls of `wake`. */
    wait (timeoutMs: number, { ignoreWakes }: { ignoreWakes: boolean }): Promise<void> {
      if (isEnded || (isWoken && !ignoreWakes)) return Promise.resolve()
      isIgnoring = ignoreWakes
      return new Promise((resolve) => {
        const timer = clock.setTimeout(done, timeoutMs)
        awake = done
        function done (): void {
          clock.clearTimeout(timer)
          awake = () => {}
          isIgnoring = false
          resolve()
        }
      })
    },
    /** Ends every sleep from now on, even if it ignores `wake`. */
    end (): void {
      isEnded = true
      awake()
    }
  }
}

/** A claimed delivery that has no place yet. */
interface Waiting {
  delivery: ClaimedDelivery
  since: number
}

/** Claimed deliveries that wait for a place. Tenants take turns, then the webhooks of each tenant. */
function createWaiting (capacity: Pick<Capacity, 'free' | 'hasShare' | 'tryAcquire'>) {
  // By tenant and webhook, in the order of their turns. No list is empty.
  const tenants = new Map<string, Map<number, Waiting[]>>()
  let size = 0

  /** Removes the first ones from a webhook's list, which then has its turn after the others. */
  function remove (tenantId: string, webhookId: number, count: number): ClaimedDelivery[] {
    const webhooks = tenants.get(tenantId)
    const list = webhooks?.get(webhookId)
    const removed = list?.splice(0, count) ?? []
    size -= removed.length
    tenants.delete(tenantId)
    webhooks?.delete(webhookId)
    if (list !== undefined && list.length > 0) webhooks?.set(webhookId, list)
    if (webhooks !== undefined && webhooks.size > 0) tenants.set(tenantId, webhooks)
    return removed.map(({ delivery }) => delivery)
  }

  return {
    get size (): number { return size },

    add (delivery: ClaimedDelivery, since: number): void {
      const { tenantId, webhookId } = delivery
      const webhooks = tenants.get(tenantId) ?? new Map<number, Waiting[]>()
      const list = webhooks.get(webhookId) ?? []
      list.push({ delivery, since })
      webhooks.set(webhookId, list)
      tenants.set(tenantId, webhooks)
      size++
    },

    has: (tenantId: string, webhookId: number): boolean => tenants.get(tenantId)?.has(webhookId) ?? false,

    * countByTenant (): Generator<[tenantId: string, count: number]> {
      for (const [tenantId, webhooks] of tenants) {
        let count = 0
        for (const list of webhooks.values()) count += list.length
        yield [tenantId, count]
      }
    },

    /** Takes a place for the next delivery that has waited since later than this time, and removes it. */
    take (after: number): ClaimedDelivery | undefined {
      if (size === 0 || capacity.free === 0) return undefined
      for (const [tenantId, webhooks] of tenants) {
        if (!capacity.hasShare(tenantId)) continue
        for (const [webhookId, [first]] of webhooks) {
          if (first === undefined || first.since <= after || !capacity.tryAcquire(tenantId, webhookId)) continue
          return remove(tenantId, webhookId, 1)[0]
        }
      }
      return undefined
    },

    /** Removes the deliveries that have waited since this time or longer. */
    takeOlder (time: number): ClaimedDelivery[] {
      const older: ClaimedDelivery[] = []
      for (const [tenantId, webhooks] of [...tenants]) {
        for (const [webhookId, list] of [...webhooks]) {
          const count = list.findIndex(({ since }) => since > time)
          if (count !== 0) older.push(...remove(tenantId, webhookId, count === -1 ? list.length : count))
        }
      }
      return older
    }
  }
}

/** Measures how many attempts end per millisecond, by the last moments. */
function createRate (clock: Clock) {
  let count = 0
  let perMs = 0
  let readAt = clock.monotonic()

  return {
    count (): void { count++ },
    read (): number {
      const ms = clock.monotonic() - readAt
      if (ms <= 2) return perMs
      perMs += Math.min(1, ms / 20) * (count / ms - perMs)
      count = 0
      readAt += ms
      return perMs
    }
  }
}

type WriteBatch = (batch: readonly AttemptResult[]) => Promise<Lease[]>

/** Buffers results of attempts until they are written, including those that could not be written before. */
function createResultWriter (
  deliveries: Pick<DeliveryStore, 'recordAttempts'>, rule: HealthRule, onWritten: (result: AttemptResult) => void
) {
  let fresh: AttemptResult[] = []
  let left: AttemptResult[] = []

  /** Writes a batch. Results that could not be written go to the end of `left`. */
  async function write (
    batch: AttemptResult[], writeBatch: WriteBatch = (results) => deliveries.recordAttempts(results, rule)
  ): Promise<void> {
    if (batch.length === 0) return
    try {
      const locked = new Set((await writeBatch(batch)).map(({ deliveryId }) => deliveryId))
      for (const result of batch) {
        if (locked.has(result.deliveryId)) left.push(result)
        else onWritten(result)
      }
    } catch (error) {
      left.push(...batch)
      throw error
    }
  }

  return {
    add (result: AttemptResult): void { fresh.push(result) },
    /** The number of new results. */
    get size (): number { return fresh.length },
    /** The number of results that could not be written: the storage failed, or their delivery is locked. */
    get leftOver (): number { return left.length },

    /** Writes the new results together. Returns whether one of them is a failure. Rejects if the storage fails. */
    async writeNew (writeBatch?: WriteBatch): Promise<boolean> {
      const batch = fresh
      fresh = []
      await write(batch, writeBatch)
      return batch.some(({ outcome }) => outcome !== 'delivered')
    },

    /** Writes the leftover results one by one, so that none blocks the others. Rejects if the storage fails. */
    async writeLeftOver (): Promise<void> {
      const batches = left.map((result) => [result])
      left = []
      for (const [index, batch] of batches.entries()) {
        try {
          await write(batch)
        } catch (error) {
          left.unshift(...batches.slice(index + 1).flat())
          throw error
        }
      }
    }
  }
}
