import { type RecruitingApiError, heldMessage, isHeldError } from '../../errors.js'
import type { DeliverySettings } from '../../options/options.js'
import type {
  ClaimOptions, ClaimedDelivery, Clock, DeliveryStore, HealthRule, Lease, AttemptResult
} from '../../ports/index.js'
import { waitUpTo } from '../../shared/clock.js'
import { type Capacity, formatWebhookKey } from '../sending/capacity.js'
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

/**
 * Claims due deliveries, attempts them and records the results, until it is closed. One turn writes new results, then
 * claims for the free slots, while other attempts continue. A turn waits for the storage, so a slow storage gets fewer
 * queries. A result that cannot be written keeps its slot and is written later.
 */
export function createWorker (dependencies: WorkerDependencies, settings: WorkerSettings) {
  const { deliveries, sender, capacity, clock, runtime, log, onFailures } = dependencies
  const attemptDelivery = createAttemptDelivery(dependencies, settings)
  const wakeup = createWakeup(clock)
  const results = createResultWriter(deliveries, settings.healthRule)
  const aborted: Lease[] = []
  let inFlight = 0
  let onIdle: () => void = () => {}
  let retryAt = Number.NEGATIVE_INFINITY
  let lastClaimAt: number | null = null
  let lastTurnAt = clock.monotonic()
  let held: RecruitingApiError | null = null
  let isClosing = false
  let isAborted = false
  let running: Promise<void> | null = null
  let stopListening: () => void = () => {}
  let turnWaiters: Array<() => void> = []

  async function run (): Promise<void> {
    while (!isClosing) {
      await gather()
      wakeup.reset()
      const isDone = await takeTurn()
      await wakeup.wait(settings.pollMs, { ignoreWakes: !isDone })
    }
  }

  /**
   * Waits a moment, so that deliveries recorded in one tick are claimed together, and results of attempts that end
   * close together are written together.
   */
  async function gather (): Promise<void> {
    await runtime.nextTick()
    if (results.size > 0) await waitUpTo(waitUntilIdle(), gatherMs, runtime.clock)
  }

  /** Returns `false` if the storage failed. The next turn then waits, even if it is woken. */
  async function takeTurn (): Promise<boolean> {
    const isWritten = await attemptStep(writeResults)
    const isClaimed = await attemptStep(claim)
    if (isClaimed) lastTurnAt = clock.monotonic()
    endTurn()
    return isClaimed && (isWritten || results.leftOver < settings.concurrency)
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

  async function writeResults (): Promise<void> {
    if (await results.writeNew()) await onFailures()
    if (results.leftOver === 0 || clock.monotonic() < retryAt) return
    retryAt = clock.monotonic() + settings.pollMs
    await results.writeLeftOver()
  }

  async function writeLast (): Promise<void> {
    if (await results.writeNew()) await onFailures()
    await results.writeLeftOver()
    if (results.leftOver > 0) throw new Error('deliveries are locked by other transactions')
  }

  async function claim (): Promise<void> {
    const { concurrency, perEndpoint, leaseMs, environment } = settings
    const limit = isClosing ? 0 : capacity.acquire(Math.max(0, concurrency - inFlight - results.leftOver))
    if (limit === 0) return
    let unused = limit
    try {
      const claimed = await claimUnlessHeld({ limit, perEndpoint, leaseMs, environment })
      lastClaimAt = clock.now()
      for (const delivery of claimed) {
        unused--
        inFlight++
        attempt(delivery)
      }
    } finally {
      capacity.release(unused)
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

  /** Attempts a delivery. Never rejects: if something throws, the delivery is claimed again when its lease expires. */
  async function attempt (delivery: ClaimedDelivery): Promise<void> {
    const webhook = formatWebhookKey(delivery.tenantId, delivery.webhookId)
    await capacity.acquireWebhook(webhook)
    try {
      const end = isAborted ? 'aborted' : await attemptDelivery(delivery, () => isAborted)
      if (end === 'aborted') aborted.push(delivery)
      else if (end !== 'unsigned') results.add(end)
    } catch (err) {
      log.error({
        err, webhook_id: delivery.webhookId, delivery_id: delivery.deliveryId, event_id: delivery.eventId
      }, 'attempt failed unexpectedly, the delivery waits')
    } finally {
      capacity.releaseWebhook(webhook)
      inFlight--
      wakeup.wake()
      if (inFlight === 0) onIdle()
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
    await running
    const idle = waitUntilIdle()
    await waitUpTo(idle, settings.closeGraceMs, clock)
    isAborted = true
    capacity.abort()
    sender.abort()
    await idle
    const problem = 'storage failed on close, deliveries in flight will repeat when their leases expire'
    await attemptStep(writeLast, problem)
    await attemptStep(() => deliveries.release(aborted), problem)
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
      stopListening = deliveries.onDue(() => wakeup.wake(), (err) => {
        log.warn({ err }, 'PostgreSQL notifications no longer arrive, polling for due deliveries')
      })
      capacity.onTestReleased(() => wakeup.wake())
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

/** Buffers results of attempts until they are written, including those that could not be written before. */
function createResultWriter (deliveries: Pick<DeliveryStore, 'recordAttempts'>, rule: HealthRule) {
  let fresh: AttemptResult[] = []
  let left: AttemptResult[] = []

  /** Writes a batch. Results that could not be written go to the end of `left`. */
  async function write (batch: AttemptResult[]): Promise<void> {
    if (batch.length === 0) return
    try {
      const locked = new Set((await deliveries.recordAttempts(batch, rule)).map(({ deliveryId }) => deliveryId))
      left.push(...batch.filter(({ deliveryId }) => locked.has(deliveryId)))
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
    async writeNew (): Promise<boolean> {
      const batch = fresh
      fresh = []
      await write(batch)
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
