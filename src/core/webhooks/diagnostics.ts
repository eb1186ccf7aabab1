import { channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { type Logger, callHost } from '../observe/logger.js'
import type {
  AttemptDetail, AttemptError, AttemptResult, ClaimedDelivery, Clock, DeliveryStore, HealthNotice, Hold
} from '../ports/index.js'
import type { AttemptCounts, EngineCalls, Outage, RecruitingEvents } from './recruiting.js'

/** The listeners that the host adds with `on`. */
export interface Listeners extends Pick<EngineCalls, 'on' | 'off'> {
  /** Calls each listener. Never throws: if a listener fails, logs the error and calls the others. */
  emit<Name extends keyof RecruitingEvents> (name: Name, ...args: RecruitingEvents[Name]): void
}

export function createListeners (log: Logger): Listeners {
  const emitter = new EventEmitter()
  const onError = (err: unknown): void => log.error({ err }, 'a host listener failed')
  return {
    on (name, listener) { emitter.on(name, listener) },
    off (name, listener) { emitter.off(name, listener) },
    emit (name, ...args) {
      for (const listener of emitter.listeners(name)) callHost(() => listener(...args), onError)
    }
  }
}

/** On `fastify-recruiting-api:emit`: an event was recorded. */
export interface EmitMessage {
  tenantSlug: string
  eventId: string
  eventType: string
  /** Number of active webhooks that receive it. */
  deliveries: number
}

/** On `fastify-recruiting-api:attempt`: an attempt ended. */
export interface AttemptMessage {
  tenantSlug: string
  webhookId: number
  deliveryId: number
  eventId: string
  eventType: string
  /** Number of the attempt, from 1. */
  attempt: number
  /** Milliseconds from the name lookup to the end of the response. */
  durationMs: number
  /** `null` without a response. */
  responseStatus: number | null
  /** `null` if it succeeded. */
  error: AttemptError | null
  /** The cause of the error; `null` if it is unknown. */
  detail: AttemptDetail | null
}

/** On `fastify-recruiting-api:retry`: the attempt failed and will be repeated. */
export interface RetryMessage extends AttemptMessage {
  /** Milliseconds to the next attempt. */
  retryInMs: number
}

/** On `fastify-recruiting-api:pause`: the attempt also pauses the webhook. */
export interface PauseMessage extends AttemptMessage {
  /** Milliseconds from now to the end of the pause. */
  pauseMs: number
}

/** On `fastify-recruiting-api:give-up`: the attempt failed and is the last one. */
export type GiveUpMessage = AttemptMessage

/** On `fastify-recruiting-api:disable`: the service disabled a webhook. */
export type DisableMessage = HealthNotice

/** On `fastify-recruiting-api:outage`: this process cannot send, or can again. */
export type OutageMessage = Outage

const channels = {
  emit: channel('fastify-recruiting-api:emit'),
  attempt: channel('fastify-recruiting-api:attempt'),
  retry: channel('fastify-recruiting-api:retry'),
  pause: channel('fastify-recruiting-api:pause'),
  giveUp: channel('fastify-recruiting-api:give-up'),
  disable: channel('fastify-recruiting-api:disable'),
  outage: channel('fastify-recruiting-api:outage')
}

export const publishEmit = (message: EmitMessage): void => channels.emit.publish(message)
export const publishDisable = (message: DisableMessage): void => channels.disable.publish(message)
export const publishOutage = (message: OutageMessage): void => channels.outage.publish(message)

export function publishAttempt (delivery: ClaimedDelivery, result: AttemptResult): void {
  const { tenantSlug, webhookId, deliveryId, eventId, eventType, attemptCount } = delivery
  const { durationMs, responseStatus, error, detail = null } = result
  const message: AttemptMessage = {
    tenantSlug,
    webhookId,
    deliveryId,
    eventId,
    eventType,
    attempt: attemptCount + 1,
    durationMs,
    responseStatus,
    error,
    detail
  }
  channels.attempt.publish(message)
  if (result.outcome === 'failed') channels.giveUp.publish(message)
  if (result.outcome !== 'retry') return
  channels.retry.publish({ ...message, retryInMs: result.retryInMs })
  if (result.pauseMs > 0) channels.pause.publish({ ...message, pauseMs: result.pauseMs })
}

const bounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 15_000]

export type Counters = ReturnType<typeof createCounters>

export function createCounters () {
  const attempts = { delivered: 0, postponed: 0, timeout: 0, connection: 0, tls: 0, blocked: 0, http_status: 0 }
  const buckets = bounds.map((upTo) => ({ upTo, count: 0 }))
  let sum = 0
  let count = 0
  return {
    add ({ error, durationMs, outcome }: Pick<AttemptResult, 'error' | 'durationMs' | 'outcome'>): void {
      if (outcome === 'postponed') {
        attempts.postponed++
        return
      }
      attempts[error ?? 'delivered']++
      for (const bucket of buckets) if (durationMs <= bucket.upTo) bucket.count++
      sum += durationMs
      count++
    },
    read: (): AttemptCounts => ({
      attempts: { ...attempts },
      durationMs: { buckets: buckets.map((bucket) => ({ ...bucket })), sum, count }
    })
  }
}

/** The health of a process that emits or delivers. */
export interface RecruitingHealth {
  /**
   * Whether the process works: it has not stopped, and if it delivers, the storage answered a claim within the last 30
   * seconds plus `delivery.pollMs`. No claim is needed while all slots are in use.
   */
  alive: boolean
  /** When the storage last answered a claim of this process, in RFC 3339; `null` if it never did. */
  lastClaimAt: string | null
  /**
   * Milliseconds since the oldest due delivery of all processes became due; 0 if none is due, `null` if the process has
   * stopped or the storage does not answer.
   */
  oldestDueMs: number | null
  /** Why nothing is sent, as in `stats`; `null` if nothing is held, or if it is unknown. */
  held: Hold | null
  /** Attempts of this process in flight. */
  inFlight: number
}

interface Dependencies {
  deliveries: Pick<DeliveryStore, 'stats'>
  /** `null` in a process that does not deliver. */
  worker: { readonly inFlight: number, readonly lastClaimAt: number | null, readonly lastTurnAt: number } | null
  findHold: () => Promise<Hold | null>
  clock: Pick<Clock, 'monotonic'>
  pollMs: number
}

const patienceMs = 30_000

export async function readHealth (
  { deliveries, worker, findHold, clock, pollMs }: Dependencies, isStopped: boolean
): Promise<RecruitingHealth> {
  const [oldestDueMs, held] = isStopped
    ? [null, null]
    : await Promise.all([readLag(deliveries).catch(() => null), findHold().catch(() => null)])
  const isDelivering = worker === null || clock.monotonic() - worker.lastTurnAt <= pollMs + patienceMs
  const lastClaimAt = worker?.lastClaimAt ?? null
  return {
    alive: !isStopped && isDelivering,
    lastClaimAt: lastClaimAt === null ? null : new Date(lastClaimAt).toISOString(),
    oldestDueMs,
    held,
    inFlight: worker?.inFlight ?? 0
  }
}

async function readLag (deliveries: Dependencies['deliveries']): Promise<number> {
  return (await deliveries.stats()).oldestDueMs
}
