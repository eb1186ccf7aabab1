import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { RecruitingApiError } from '../errors.js'
import type { DeliveryStats } from '../ports/index.js'
import type { EngineSettings } from '../options.js'
import { type Tracing, createTracing } from '../tracing.js'
import { createAddressRule } from './addresses.js'
import { type EmitOptions, type EmitResult, type EmittedEvent, type ErasedSubject, assertText, dispatch } from './dispatcher.js'
import { type EventCatalogue, createEventValidator } from './events.js'
import { type AttemptCounts, createCounters } from './counters.js'
import { type RecruitingEvents, createHealthReporter } from './health.js'
import { keepPruning, prune } from './housekeeping.js'
import type { Logger } from './logger.js'
import { type WebhookOperations, createWebhookOperations } from './operations.js'
import { resealSecrets } from './reseal.js'
import { createSecretBox } from './secrets.js'
import { createSender } from './sender.js'
import { createWorker } from './worker.js'

/** `app.recruiting`: what the host does with the engine. */
export interface Recruiting<Events extends EventCatalogue = EventCatalogue> {
  /**
   * Records an event, and a delivery for each webhook that subscribes to it. Once it has resolved the event is
   * delivered at least once; with `transaction`, once that commits. Throws `invalid_event`, `idempotency_conflict` or
   * `closed`, and what the storage throws; nothing is recorded then.
   */
  emit<Name extends keyof Events & string> (event: EmittedEvent<Events, Name>, options?: EmitOptions): Promise<EmitResult>
  /**
   * Resolves when no delivery is due or under way, of any process. With `until`, a `Date` or milliseconds since the
   * epoch, it also waits for what falls due by then, such as retries. Throws `closed`.
   */
  drain (options?: { until?: Date | number }): Promise<void>
  /**
   * Deletes deliveries that ended and events older than `delivery.retentionDays`, and returns how many. Workers do it
   * every hour.
   */
  prune (): Promise<number>
  /**
   * Erases what is kept about a subject, such as `candidate:42`: events emitted with it lose their `data`, and their
   * pending deliveries are cancelled. A replay of them sends `data: null` and `erased: true`. With `transaction`, once
   * that commits. Returns how many events were emitted with that subject. Throws `invalid_event` and `closed`.
   */
  erase (subject: ErasedSubject, options?: EmitOptions): Promise<number>
  /** What an operator watches. `attempts`, `durationMs` and `inFlight` are this process's, the rest is everybody's. */
  stats (): Promise<RecruitingStats>
  /**
   * Seals every webhook secret with the first of the `secretKeys`, and returns how many were sealed with another or not
   * at all. Once it has resolved, the other keys can be dropped.
   */
  resealSecrets (): Promise<number>
  /** Listens for what the engine does by itself. */
  on<Name extends keyof RecruitingEvents> (name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
  /** Ends what `on` began. */
  off<Name extends keyof RecruitingEvents> (name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
}

/** What `stats` returns: the queue of all processes, and the attempts of this one since it started. */
export interface RecruitingStats extends DeliveryStats, AttemptCounts {
  /** Attempts of this process that are under way. */
  inFlight: number
}

/** The engine with the parts that are not the host's. */
export interface Engine {
  recruiting: Recruiting
  operations: WebhookOperations
  tracing: Tracing | null
  start (): void
  /** Ends deliveries alone: nothing is left that uses the storage by itself. May be called again. */
  stop (): Promise<void>
  /** Ends everything. May be called again. */
  close (): Promise<void>
}

export function createEngine (settings: EngineSettings, log: Logger): Engine {
  const { storage: { webhooks, deliveries }, events, secretKeys, maxWebhooksPerTenant, opentelemetry, delivery } = settings
  const { clock, allowHttp, allowNetworks, timeoutMs, pollMs, retentionDays } = delivery
  const isAllowedAddress = createAddressRule(allowNetworks)
  const targetRules = { allowHttp, allowPrivateNames: allowNetworks.length > 0, isAllowedAddress }
  const secrets = createSecretBox(secretKeys)
  const sender = createSender(targetRules, timeoutMs)
  const emitter = new EventEmitter()
  const validate = createEventValidator(events)
  const counters = createCounters()
  const tracing = opentelemetry === null ? null : createTracing(opentelemetry)
  const healthRule = { ...delivery.disableAfter, warnAfterSeconds: delivery.disableAfter.failingForSeconds / 2 }
  const worker = delivery.worker
    ? createWorker({ deliveries, sender, secrets, clock, log, counters, tracing, onNotice: createHealthReporter(emitter, log) }, { ...delivery, healthRule })
    : null
  let stopPruning: () => void = () => {}
  let stopping: Promise<void> | null = null
  let closing: Promise<void> | null = null

  function assertOpen (): void {
    if (closing !== null) throw new RecruitingApiError('closed', 'the engine is closed')
  }

  // What will not be delivered here any more is not to be waited for.
  function assertDelivering (): void {
    assertOpen()
    if (stopping !== null) throw new RecruitingApiError('closed', 'the engine has stopped delivering')
  }

  function isBusy (): boolean {
    return worker !== null && worker.inFlight > 0
  }

  function stop (): Promise<void> {
    stopPruning()
    stopping ??= worker?.close() ?? Promise.resolve()
    return stopping
  }

  async function close (): Promise<void> {
    await stop()
    sender.abort()
    await sender.close()
  }

  return {
    tracing,
    recruiting: {
      async emit (event, options) {
        assertOpen()
        const record = (): Promise<EmitResult> => dispatch({ deliveries, validate, clock }, event, options)
        return tracing === null ? record() : tracing.emit(event, record)
      },
      async drain ({ until = 0 } = {}) {
        assertDelivering()
        const hasPending = (): Promise<boolean> => deliveries.hasPending(Math.max(0, Number(until) - clock.now()))
        for (;;) {
          // Asked for first: a turn may end while storage answers, and the next one may be a poll away.
          const turn = worker?.nextTurn()
          // While something is in flight here there is no need to ask.
          if (!isBusy() && !await hasPending()) return
          await (turn ?? sleep(pollMs))
          assertDelivering()
        }
      },
      async prune () {
        assertOpen()
        return prune(deliveries, retentionDays)
      },
      async erase ({ tenantSlug, subject }, { transaction } = {}) {
        assertOpen()
        assertText('tenantSlug', tenantSlug, 100)
        assertText('subject', subject, 255)
        return deliveries.erase(tenantSlug, subject, transaction)
      },
      async stats () {
        assertOpen()
        return { ...await deliveries.stats(), ...counters.read(), inFlight: worker?.inFlight ?? 0 }
      },
      async resealSecrets () {
        assertOpen()
        return resealSecrets(webhooks, secrets)
      },
      on (name, listener) { emitter.on(name, listener) },
      off (name, listener) { emitter.off(name, listener) }
    },
    operations: createWebhookOperations({
      webhooks, deliveries, events, targetRules, secrets, sender, clock, maxWebhooksPerTenant, timeoutMs
    }),
    start () {
      if (worker === null || stopping !== null || closing !== null) return
      worker.start()
      stopPruning = keepPruning(deliveries, retentionDays, { clock, log })
    },
    stop,
    close () {
      closing ??= close()
      return closing
    }
  }
}
