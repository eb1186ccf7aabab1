import type { AttemptResult, ClaimedDelivery, Clock } from '../../ports/index.js'
import type { DeliverySettings } from '../options.js'
import type { Logger } from '../../observe/logger.js'
import type { Tracing } from '../../observe/tracing.js'
import { type Agents, agentRetrySchedule } from './agents.js'
import { publishAttempt, type Counters } from '../diagnostics.js'
import { hostOf } from '../ssrf/addresses.js'
import { type OwnHeaders, type SecretBox, maskHeaders, openHeaders } from '../secrets.js'
import type { Runtime } from '../runtime.js'
import type { Outages } from '../sending/outages.js'
import type { SendResult, Sender } from '../sending/sender.js'
import { signHeaders, signLegacy } from '../sending/signature.js'
import { LruMap } from '../../shared/cached.js'
import { omitUndefined } from '../../shared/fields.js'
import { formatWebhookKey } from '../sending/capacity.js'

export interface AttemptDependencies {
  sender: Sender
  secrets: SecretBox
  clock: Clock
  runtime: Runtime
  log: Logger
  counters: Counters
  outages: Outages
  /** `null` without the option `opentelemetry`. */
  tracing: Tracing | null
  /** `null` if the storage has no subscriptions. */
  agents: Pick<Agents, 'format'> | null
}

export type AttemptSettings = Pick<
  DeliverySettings,
  'timeoutMs' | 'responseExcerptBytes' | 'retrySchedule' | 'propagateTrace'
>

/**
 * The result of an attempt; `aborted` if the sender aborted it; `unsigned` if a secret cannot be opened. Then nothing
 * was sent, and the delivery waits until its lease expires.
 */
type AttemptEnd = AttemptResult | 'aborted' | 'unsigned'

/**
 * Returns a function that signs and sends a claimed delivery, decides the outcome and reports the attempt. It never
 * rejects. It calls `isAborted` after opening the secrets, before it sends anything. `clockErrorMs` is how far this
 * process's clock is ahead of the storage's: receivers reject signatures with a time that is minutes off.
 */
export function createAttemptDelivery (
  dependencies: AttemptDependencies,
  settings: AttemptSettings
): (delivery: ClaimedDelivery, isAborted: () => boolean, clockErrorMs?: number) => Promise<AttemptEnd> {
  const { sender, secrets, clock, runtime, log, counters, outages, tracing, agents } = dependencies
  const pauses = createPauseLog(log, clock)
  const { timeoutMs, retrySchedule, responseExcerptBytes: excerptBytes, propagateTrace } = settings

  /** Returns the signature's headers and the webhook's own headers; `null` if they cannot be opened. */
  async function sign (
    delivery: ClaimedDelivery, nowMs: number
  ): Promise<{ signed: Record<string, string>, own: OwnHeaders } | null> {
    const { tenantId, webhookId, targetUrl: url, eventId } = delivery
    try {
      const [{ own, legacy }, ...opened] = await Promise.all([
        openHeaders(secrets, delivery.headers, { tenantId, webhookId, url }),
        ...delivery.secrets.map((secret) => secrets.open(secret, tenantId, webhookId))
      ])
      const signed: Record<string, string> = signHeaders(opened, eventId, delivery.body, nowMs)
      if (legacy !== null) Object.assign(signed, signLegacy(legacy, eventId, delivery.body, nowMs))
      return { signed, own }
    } catch (err) {
      log.error(
        { err, webhook_id: webhookId, event_id: eventId },
        'secretKeys cannot open the webhook secret, the delivery waits'
      )
      return null
    }
  }

  /** Sends the delivery. Masks the values of the webhook's own headers, which the response may repeat. */
  async function send (
    { tenantId, targetUrl: url, body }: ClaimedDelivery, headers: Record<string, string>, own: OwnHeaders
  ): Promise<SendResult> {
    const sent = await sender.send({ tenantId, url, headers: { ...own, ...headers }, body, timeoutMs, excerptBytes })
    const { responseExcerpt } = sent
    return responseExcerpt === undefined ? sent : { ...sent, responseExcerpt: maskHeaders(responseExcerpt, own) }
  }

  return async (claimed, isAborted, clockErrorMs = 0) => {
    const attempt = pauses.begin()
    const agent = claimed.subscription ? await agents?.format(claimed) : undefined
    const delivery = agent ? { ...claimed, body: agent.body } : claimed
    const headers = await sign(delivery, clock.now() - clockErrorMs)
    if (headers === null) return 'unsigned'
    if (isAborted()) return 'aborted'
    const { signed, own } = headers
    const span = tracing?.startAttempt(delivery)
    if (propagateTrace && typeof span?.traceParent === 'string') signed.traceparent = span.traceParent
    if (agent) Object.assign(signed, agent.headers)
    const sent = agent === null ? unsendable : await send(delivery, signed, own)
    const schedule = delivery.subscription ? agentRetrySchedule : retrySchedule
    const result = decideOutcome(
      delivery, sent, { retrySchedule: schedule, nowMs: clock.now(), random: runtime.random }
    )
    if (result === null) return 'aborted'
    span?.end(result)
    counters.add(result)
    outages.add(sent)
    if (result.outcome === 'postponed') return result
    publishAttempt(delivery, result)
    if (result.outcome !== 'delivered') logFailure(log, delivery, result, sent)
    pauses.end(attempt, delivery, result, sent)
    return result
  }
}

function logFailure (log: Logger, delivery: ClaimedDelivery, result: AttemptResult, sent: SendResult): void {
  const { webhookId, deliveryId, eventId, targetUrl, attemptCount } = delivery
  log.warn({
    webhook_id: webhookId,
    delivery_id: deliveryId,
    event_id: eventId,
    attempt: attemptCount + 1,
    host: hostOf(targetUrl),
    error: result.error,
    response_status: result.responseStatus,
    ...omitUndefined({ detail: sent.detail, proxy_fault: sent.proxyFault, webhook_delivery: sent.control }),
    ...(result.outcome === 'retry' ? { retry_in_ms: result.retryInMs } : {})
  }, result.outcome === 'retry' ? 'delivery failed, will retry' : 'delivery failed, giving up')
}

/** Pause without `Retry-After`. Short, because one event that always gets a 503 must not block the others. */
const longestPauseMs = 60_000

/** The result for an event that an agent does not get. */
const unsendable: SendResult = { responseStatus: null, error: 'blocked', durationMs: 0 }

/** The wait after an attempt that this process could not make, plus up to the same time at random. */
const postponedMs = 20_000

/** Returns the outcome of an attempt; `null` if it was aborted, which does not count as an attempt. */
export function decideOutcome (
  delivery: ClaimedDelivery,
  sent: SendResult,
  { retrySchedule, nowMs, random }: { retrySchedule: readonly number[], nowMs: number, random: () => number }
): AttemptResult | null {
  const { webhookId, deliveryId, fence, targetUrl, attemptCount } = delivery
  const { responseStatus, durationMs, error, control, detail = null, responseExcerpt = null } = sent
  if (error === 'aborted') return null
  const endsWebhook = responseStatus === 410 || control === 'disable'
  // Nothing disables an agent's subscription: it ends unless it is refreshed.
  const isGone = endsWebhook && !delivery.subscription
  if (error === null) {
    return {
      webhookId,
      deliveryId,
      fence,
      targetUrl,
      durationMs,
      responseStatus,
      responseExcerpt,
      error,
      outcome: 'delivered',
      isGone
    }
  }
  const attempt = { webhookId, deliveryId, fence, targetUrl, durationMs, responseStatus, responseExcerpt }
  if (sent.ownFault !== undefined) {
    return { ...attempt, error, outcome: 'postponed', retryInMs: Math.ceil(postponedMs * (1 + random())) }
  }
  // The same body would be too large again.
  const isFinal = error === 'blocked' || endsWebhook || control === 'abort' || responseStatus === 413
  const retryAfterMs = parseRetryAfter(sent.retryAfter, nowMs)
  const retryInMs = isFinal ? null : nextRetryMs(retrySchedule, attemptCount + 1, retryAfterMs, random)
  if (retryInMs === null) return { ...attempt, error, detail, outcome: 'failed', isGone }
  const pauseMs = isOverloaded(sent, delivery.isFailing) ? Math.min(retryInMs, retryAfterMs ?? longestPauseMs) : 0
  return { ...attempt, error, detail, outcome: 'retry', retryInMs, pauseMs }
}

/** Whether the endpoint is overloaded: it returned 429 or 503, or timed out while it was already failing. */
function isOverloaded ({ responseStatus, error }: SendResult, isFailing: boolean): boolean {
  return responseStatus === 429 || responseStatus === 503 || (error === 'timeout' && isFailing)
}

const maxRetryAfterMs = 24 * 60 * 60 * 1000

const jitter = 0.2

/**
 * Returns the milliseconds until the next attempt, or `null` at the end of the schedule. `Retry-After` can lengthen the
 * wait, but not shorten it. Adds a jitter of 0 to 20 %.
 */
export function nextRetryMs (
  schedule: readonly number[],
  attemptsMade: number,
  retryAfterMs: number | null,
  random: () => number
): number | null {
  const seconds = schedule[attemptsMade]
  if (seconds === undefined) return null
  return Math.ceil(Math.max(seconds * 1000, retryAfterMs ?? 0) * (1 + jitter * random()))
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): whole seconds or an HTTP date, 24 hours at most. `null` if absent or
 * malformed.
 */
export function parseRetryAfter (value: string | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? ''
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - nowMs
  return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : null
}

const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994` (RFC 9110, 5.6.7).
 */
const httpDates = [
  new RegExp(`^[A-Z][a-z]{2}, (\\d\\d) ${month} \\d{4} [\\d:]{8} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (\\d\\d)-${month}-\\d\\d [\\d:]{8} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} ${month} ([ \\d]\\d) [\\d:]{8} \\d{4}$`)
]

/** `Date.parse` alone accepts other formats, and reads 31 February as 3 March. */
function parseHttpDate (text: string): number {
  const day = httpDates.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined)
  if (day === undefined) return Number.NaN
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return new Date(time).getUTCDate() === Number(day) ? time : Number.NaN
}

const maxWebhooks = 1000

/**
 * Logs each pause of a webhook once, even if several attempts in flight cause it. Remembers the last 1,000 paused
 * webhooks.
 */
function createPauseLog (log: Logger, clock: Clock) {
  /** The last attempt started before each webhook was paused. */
  const lastAttempts = new LruMap<number>(maxWebhooks)
  let begun = 0

  return {
    /** Returns the number of a new attempt. */
    begin: () => ++begun,
    /** Logs the pause if the attempt with this number starts one. */
    end (attempt: number, delivery: ClaimedDelivery, result: AttemptResult, { retryAfter }: SendResult): void {
      const { tenantId, tenantSlug, webhookId } = delivery
      if (result.outcome !== 'retry' || result.pauseMs === 0) return
      const webhook = formatWebhookKey(tenantId, webhookId)
      // No attempt starts during a pause, so this one started before it.
      if (attempt <= (lastAttempts.get(webhook) ?? 0)) return
      lastAttempts.set(webhook, begun)
      const now = clock.now()
      log.info({
        webhook_id: webhookId,
        tenant_slug: tenantSlug,
        paused_until: new Date(now + result.pauseMs).toISOString(),
        reason: parseRetryAfter(retryAfter, now) === null ? result.error : 'retry_after',
        response_status: result.responseStatus
      }, 'webhook paused')
    }
  }
}
