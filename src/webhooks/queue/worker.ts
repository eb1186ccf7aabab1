import { setImmediate } from 'node:timers/promises'
import type { AttemptResult, ClaimedDelivery, Clock, DeliveryStore, HealthRule, Lease } from '../../ports/index.js'
import { systemClock } from '../../shared/clock.js'
import type { Tracing } from '../../observe/tracing.js'
import { publishAttempt } from '../channels.js'
import type { Counters } from './counters.js'
import { hostOf } from '../guard/destination.js'
import type { Logger } from '../../observe/logger.js'
import { decideOutcome } from './outcome.js'
import { type Places, formatEndpoint } from '../sending/places.js'
import type { SecretBox } from '../secrets/secret-box.js'
import type { SendResult, Sender } from '../sending/sender.js'
import { createResultWriter } from './results.js'
import { signHeaders } from '../sending/signature.js'
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
  /** Called when attempts were recorded that failed: there may be notices for the host. Never rejects. */
  onFailures: () => Promise<void>
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
 * Claims due deliveries, attempts them and records how they ended. One turn writes the results that have come in, then
 * claims for the slots that are free: slots are refilled while other attempts go on, and storage is asked no more often
 * than it can answer. A result that cannot be written keeps its slot and is tried again.
 */
export function createWorker (dependencies: WorkerDependencies, settings: WorkerSettings): Worker {
  const { deliveries, sender, places, clock, log, counters, tracing, onFailures } = dependencies
  const wakeup = createWakeup(clock)
  const results = createResultWriter(deliveries, settings.healthRule)
  const aborted: Lease[] = []
  let inFlight = 0
  let onIdle: () => void = () => {}
  let retryAt = 0
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
    if (results.size > 0) await settle(waitUntilIdle(), gatherMs, systemClock)
  }

  /** False if storage failed: the next turn then waits, however often it is woken. */
  async function takeTurn (): Promise<boolean> {
    const isWritten = await attemptStep(writeResults)
    const isClaimed = await attemptStep(claim)
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
    if (results.leftOver === 0 || clock.now() < retryAt) return
    retryAt = clock.now() + settings.pollMs
    await results.writeLeftOver()
  }

  async function writeLast (): Promise<void> {
    if (await results.writeNew()) await onFailures()
    await results.writeLeftOver()
    if (results.leftOver > 0) throw new Error('deliveries are locked by other transactions')
  }

  async function claim (): Promise<void> {
    const { concurrency, perEndpoint, leaseMs } = settings
    const limit = isClosing ? 0 : places.reserve(Math.max(0, concurrency - inFlight - results.leftOver))
    if (limit === 0) return
    let unused = limit
    try {
      for (const delivery of await deliveries.claimDue({ limit, perEndpoint, leaseMs })) {
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
    results.add(result)
    counters.add(result)
    publishAttempt(delivery, result)
    tracing?.attempt(delivery, result)
    if (result.outcome !== 'delivered') logFailure(delivery, result)
  }

  async function send (delivery: ClaimedDelivery): Promise<SendResult | null> {
    if (isAborted) return { responseStatus: null, error: 'aborted', durationMs: 0 }
    const headers = sign(delivery)
    if (headers === null) return null
    return sender.send({ url: delivery.targetUrl, headers, body: delivery.body, timeoutMs: settings.timeoutMs })
  }

  /** `null` if a secret cannot be opened. The lease then expires and the delivery waits for the key to come back. */
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
    const problem = 'storage failed on close, deliveries under way will repeat when their leases expire'
    await attemptStep(writeLast, problem)
    await attemptStep(() => deliveries.release(aborted), problem)
    endTurn()
  }

  return {
    get inFlight () { return inFlight },
    start () {
      stopListening = deliveries.onDue(() => wakeup.wake(), (err) => {
        log.warn({ err }, 'notifications of due deliveries were lost, they are found by polling meanwhile')
      })
      places.onTestLeft(() => wakeup.wake())
      running ??= run()
    },
    nextTurn: () => new Promise((resolve) => { turnWaiters.push(resolve) }),
    close
  }
}

/** Waits for the attempts to end, but no longer than the grace. */
async function settle (idle: Promise<void>, graceMs: number, clock: Clock): Promise<void> {
  let timer: unknown
  const grace = new Promise<void>((resolve) => { timer = clock.setTimeout(resolve, graceMs) })
  await Promise.race([grace, idle])
  clock.clearTimeout(timer)
}
