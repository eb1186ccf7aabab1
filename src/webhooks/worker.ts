import { setImmediate } from 'node:timers/promises'
import type { AttemptResult, ClaimedDelivery, Clock, DeliveryStore, HealthNotice, HealthRule, Lease } from '../ports/index.js'
import { systemClock } from '../system-clock.js'
import type { Tracing } from '../tracing.js'
import { publishAttempt } from './channels.js'
import type { Counters } from './counters.js'
import { hostOf } from './destination.js'
import type { Logger } from './logger.js'
import { decideOutcome } from './outcome.js'
import { type Places, formatEndpoint } from './places.js'
import type { SecretBox } from './secrets.js'
import type { SendResult, Sender } from './sender.js'
import { signHeaders } from './signature.js'
import { createWakeup } from './wakeup.js'

/** Options of `delivery` as a worker takes them, every default filled in, and the rule by which webhooks are disabled. */
export interface WorkerSettings {
  concurrency: number
  perEndpoint: number
  timeoutMs: number
  leaseMs: number
  pollMs: number
  closeGraceMs: number
  retrySchedule: readonly number[]
  healthRule: HealthRule
}

/** What a worker works with. */
export interface WorkerDependencies {
  deliveries: DeliveryStore
  sender: Sender
  places: Places
  secrets: SecretBox
  clock: Clock
  log: Logger
  counters: Counters
  /** `null` without the option `opentelemetry`. */
  tracing: Tracing | null
  /**
   * Called with what the storage says of the health of a webhook once the attempts are recorded. It must not throw: they
   * would be recorded again.
   */
  onNotice: (notice: HealthNotice) => void
}

/** Delivers what falls due, until it is closed. */
export interface Worker {
  /** Begins to claim, and to listen for what falls due. Call it once. */
  start (): void
  /**
   * Resolves at the end of this turn, or else of the next: when an attempt has ended, deliveries were recorded or the
   * poll time is over.
   */
  nextTurn (): Promise<void>
  /** Attempts in flight. */
  readonly inFlight: number
  /** Claims no more, lets attempts end within the grace, aborts the rest and gives their leases back. */
  close (): Promise<void>
}

// Too short to be noticed by a receiver, and long enough for those that answer at once. By the time of this process,
// whatever the clock of the deliveries says.
const gatherMs = 2

/**
 * Claims due deliveries, attempts them and records what came of it. One turn writes the results that have come in and
 * claims for the slots that are free, both at once. So slots are refilled while other attempts go on, and storage is asked
 * no more often than it can answer.
 */
export function createWorker (dependencies: WorkerDependencies, settings: WorkerSettings): Worker {
  const { deliveries, sender, places, clock, log, counters, tracing, onNotice } = dependencies
  const wakeup = createWakeup(clock)
  const aborted: Lease[] = []
  let inFlight = 0
  let onIdle: () => void = () => {}
  let results: AttemptResult[] = []
  // Before more is claimed: a failure among the results may hold its endpoint back, or storage would not take them.
  let mustWriteFirst = false
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
      await wakeup.wait(settings.pollMs, { deaf: !isDone })
    }
  }

  /**
   * What is recorded in one tick is claimed together. What ends within a short time is written together, and its slots are
   * filled together.
   */
  async function gather (): Promise<void> {
    await setImmediate()
    if (results.length > 0) await settle(waitUntilIdle(), gatherMs, systemClock)
  }

  /** False if storage failed: the next turn then waits, however often it is woken. */
  async function takeTurn (): Promise<boolean> {
    let isDone = true
    try {
      if (mustWriteFirst) await writeResults()
      const ended = results.filter(({ outcome }) => outcome === 'delivered')
      await all(writeResults(), claim(ended))
    } catch (err) {
      log.error({ err }, 'storage failed, deliveries wait')
      isDone = false
    }
    endTurn()
    return isDone
  }

  function endTurn (): void {
    const waiters = turnWaiters
    turnWaiters = []
    for (const resolve of waiters) resolve()
  }

  async function writeResults (): Promise<void> {
    if (results.length === 0) return
    const batch = results
    results = []
    mustWriteFirst = false
    try {
      for (const notice of await deliveries.complete(batch, settings.healthRule)) onNotice(notice)
    } catch (error) {
      results = batch.concat(results)
      mustWriteFirst = true
      throw error
    }
  }

  async function claim (ended: readonly Lease[]): Promise<void> {
    const { concurrency, perEndpoint, leaseMs } = settings
    const limit = isClosing ? 0 : places.reserve(concurrency)
    if (limit === 0) return
    let unused = limit
    try {
      for (const delivery of await deliveries.claimDue({ limit, perEndpoint, leaseMs, ended })) {
        unused--
        inFlight++
        attemptDelivery(delivery)
      }
    } finally {
      places.giveBack(unused)
    }
  }

  async function attemptDelivery (delivery: ClaimedDelivery): Promise<void> {
    const endpoint = formatEndpoint(delivery.tenantSlug, delivery.webhookId)
    await places.enter(endpoint)
    try {
      const sent = await send(delivery)
      if (sent !== null) take(delivery, sent)
    } finally {
      places.leave(endpoint)
      inFlight--
      wakeup.wake()
      if (inFlight === 0) onIdle()
    }
  }

  function take (delivery: ClaimedDelivery, sent: SendResult): void {
    const { retrySchedule } = settings
    const result = decideOutcome(delivery, sent, { retrySchedule, nowMs: clock.now() })
    if (result === null) {
      aborted.push(delivery)
      return
    }
    results.push(result)
    counters.add(result)
    publishAttempt(delivery, result)
    tracing?.attempt(delivery, result)
    if (result.outcome === 'delivered') return
    mustWriteFirst = true
    logFailure(delivery, result)
  }

  async function send (delivery: ClaimedDelivery): Promise<SendResult | null> {
    if (isAborted) return { responseStatus: null, error: 'aborted', durationMs: 0 }
    const headers = sign(delivery)
    if (headers === null) return null
    return sender.send({ url: delivery.targetUrl, headers, body: delivery.body, timeoutMs: settings.timeoutMs })
  }

  /** `null` if a secret cannot be opened. The lease then runs out and the delivery waits for the key to come back. */
  function sign ({ tenantSlug, webhookId, secrets, eventId, body }: ClaimedDelivery): Record<string, string> | null {
    try {
      const opened = secrets.map((secret) => dependencies.secrets.open(secret, tenantSlug, webhookId))
      return signHeaders(opened, eventId, body, clock.now())
    } catch (err) {
      log.error({ err, webhook_id: webhookId, event_id: eventId }, 'delivery waits, for none of the secretKeys opens the secret of its webhook')
      return null
    }
  }

  function logFailure ({ webhookId, deliveryId, eventId, targetUrl, attemptCount }: ClaimedDelivery, result: AttemptResult): void {
    log.warn({
      webhook_id: webhookId,
      delivery_id: deliveryId,
      event_id: eventId,
      attempt: attemptCount + 1,
      host: hostOf(targetUrl),
      error: result.error,
      response_status: result.responseStatus,
      ...(result.outcome === 'retry' ? { retry_in_ms: result.retryInMs } : {})
    }, result.outcome === 'retry' ? 'delivery failed, it will be tried again' : 'delivery failed, it is given up')
  }

  function waitUntilIdle (): Promise<void> {
    return new Promise((resolve) => {
      onIdle = resolve
      if (inFlight === 0) resolve()
    })
  }

  async function close (): Promise<void> {
    isClosing = true
    stopListening()
    wakeup.end()
    await running
    const idle = waitUntilIdle()
    await settle(idle, settings.closeGraceMs, clock)
    isAborted = true
    places.abort()
    sender.abort()
    await idle
    try {
      await writeResults()
      await deliveries.release(aborted)
    } catch (err) {
      log.error({ err }, 'storage failed on close, deliveries under way will repeat when their leases run out')
    }
    endTurn()
  }

  return {
    get inFlight () { return inFlight },
    start () {
      stopListening = deliveries.onDue(() => wakeup.wake())
      places.onTestLeft(() => wakeup.wake())
      running ??= run()
    },
    nextTurn: () => new Promise((resolve) => { turnWaiters.push(resolve) }),
    close
  }
}

/** As `Promise.all`, but nothing is still going on when it rejects. */
async function all (...steps: Array<Promise<void>>): Promise<void> {
  await Promise.allSettled(steps)
  await Promise.all(steps)
}

/** Waits for the attempts to end, but no longer than the grace. */
async function settle (idle: Promise<void>, graceMs: number, clock: Clock): Promise<void> {
  let timer: unknown
  const grace = new Promise<void>((resolve) => { timer = clock.setTimeout(resolve, graceMs) })
  await Promise.race([grace, idle])
  clock.clearTimeout(timer)
}
