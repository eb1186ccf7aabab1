import type { AttemptResult, ClaimedDelivery, Clock } from '../../ports/index.js'
import type { DeliverySettings } from '../../options/options.js'
import type { Logger } from '../../observe/logger.js'
import type { Tracing } from '../../observe/tracing.js'
import { publishAttempt } from '../listeners.js'
import { hostOf } from '../ssrf/destination.js'
import { openHeaders } from '../headers.js'
import type { Runtime } from '../runtime.js'
import type { SecretBox } from '../secrets.js'
import type { SendResult, Sender } from '../sending/sender.js'
import { signHeaders } from '../sending/signature.js'
import type { Counters } from './counters.js'
import { decideOutcome } from './outcome.js'
import { createPauseLog } from './pause-log.js'

export interface AttemptDependencies {
  sender: Sender
  secrets: SecretBox
  clock: Clock
  runtime: Runtime
  log: Logger
  counters: Counters
  /** `null` without the option `opentelemetry`. */
  tracing: Tracing | null
}

export type AttemptSettings = Pick<
  DeliverySettings,
  'timeoutMs' | 'responseExcerptBytes' | 'retrySchedule' | 'propagateTrace'
>

/**
 * The result of an attempt; `aborted` if the sender aborted it; `unsigned` if a secret cannot be opened: nothing was
 * sent, and the delivery waits until its lease expires.
 */
export type AttemptEnd = AttemptResult | 'aborted' | 'unsigned'

/**
 * Returns a function that signs and sends a claimed delivery, decides the outcome and reports the attempt. It never
 * rejects.
 */
export function createAttemptDelivery (
  dependencies: AttemptDependencies,
  settings: AttemptSettings
): (delivery: ClaimedDelivery) => Promise<AttemptEnd> {
  const { sender, secrets, clock, runtime, log, counters, tracing } = dependencies
  const pauses = createPauseLog(log, clock)
  const { timeoutMs, retrySchedule, responseExcerptBytes: excerptBytes, propagateTrace } = settings

  function sign ({
    tenantId,
    webhookId,
    secrets: sealed,
    headers,
    eventId,
    body
  }: ClaimedDelivery): Record<string, string> | null {
    try {
      const opened = sealed.map((secret) => secrets.open(secret, tenantId, webhookId))
      const signed = signHeaders(opened, eventId, body, clock.now())
      return headers === null ? signed : { ...openHeaders(secrets, headers, tenantId, webhookId), ...signed }
    } catch (err) {
      log.error(
        { err, webhook_id: webhookId, event_id: eventId },
        'no key in secretKeys opens the webhook secret, the delivery waits'
      )
      return null
    }
  }

  function report (delivery: ClaimedDelivery, result: AttemptResult, sent: SendResult): void {
    counters.add(result)
    publishAttempt(delivery, result)
    if (result.outcome !== 'delivered') logFailure(log, delivery, result, sent)
  }

  return async (delivery) => {
    const headers = sign(delivery)
    if (headers === null) return 'unsigned'
    const span = tracing?.startAttempt(delivery)
    if (propagateTrace && typeof span?.traceParent === 'string') headers.traceparent = span.traceParent
    const attempt = pauses.begin()
    const sent = await sender.send({ url: delivery.targetUrl, headers, body: delivery.body, timeoutMs, excerptBytes })
    const result = decideOutcome(delivery, sent, { retrySchedule, nowMs: clock.now(), random: runtime.random })
    if (result === null) return 'aborted'
    span?.end(result)
    report(delivery, result, sent)
    pauses.end(attempt, delivery, result, sent)
    return result
  }
}

function logFailure (log: Logger, delivery: ClaimedDelivery, result: AttemptResult, { proxyFault }: SendResult): void {
  const { webhookId, deliveryId, eventId, targetUrl, attemptCount } = delivery
  log.warn({
    webhook_id: webhookId,
    delivery_id: deliveryId,
    event_id: eventId,
    attempt: attemptCount + 1,
    host: hostOf(targetUrl),
    error: result.error,
    response_status: result.responseStatus,
    ...(proxyFault === undefined ? {} : { proxy_fault: proxyFault }),
    ...(result.outcome === 'retry' ? { retry_in_ms: result.retryInMs } : {})
  }, result.outcome === 'retry' ? 'delivery failed, will retry' : 'delivery failed, giving up')
}
