import type { Logger } from '../../observe/logger.js'
import type {
  ClaimedDelivery, Clock, EventFilters, EventStorage, Filled, StoredSubscription, Subscription
} from '../../ports/index.js'
import { waitUpTo } from '../../shared/clock.js'
import {
  type EventsControl, createControlId, describeEnd, formatOccurrence, subscriptionHeader
} from '../../shared/events-wire.js'
import { feedSubject } from '../../shared/feed.js'
import { createTokens } from '../../shared/tokens.js'
import type { SecretBox } from '../secrets.js'
import type { SendResult, Sender } from '../sending/sender.js'
import { signHeaders } from '../sending/signature.js'

/** Seconds before each attempt of an agent's delivery, as in `delivery.retrySchedule`. */
export const agentRetrySchedule: readonly number[] = [0, 30, 120, 600]

const maxBodyBytes = 256 * 1024
const controlTimeoutMs = 10_000
const window = 100
const fillLimit = 1000
const atOnce = 8

/** A callback's address, and the secrets that sign requests to it. */
type Callback = Pick<StoredSubscription, 'tenantId' | 'secrets'> & {
  subscription: Pick<Subscription, 'id' | 'webhook_id' | 'target_url'>
}

export type Agents = ReturnType<typeof createAgents>

/** Moves events to the queues of agents' subscriptions, and formats the requests to their callbacks. */
export function createAgents (
  { subscriptions, feed }: Required<Pick<EventStorage, 'subscriptions' | 'feed'>>,
  { sender, secrets, clock, log, pollMs, environment, onEnd }: {
    sender: Sender
    secrets: SecretBox
    clock: Clock
    log: Logger
    pollMs: number
    environment: string | null
    /** Called for each subscription that the service ends by itself. */
    onEnd: (ended: Filled['ended'][number]) => void
  }
) {
  const tokens = createTokens(feed)
  let timer: unknown
  let isStopped = false
  let filling: Promise<void> | null = null
  let notifying: Promise<unknown> = Promise.resolve()

  /** Formats a position as a cursor, which is valid for polls and subscriptions with the same filters. */
  function formatCursor (
    tenantId: string, eventType: string, filters: EventFilters | null, position: string
  ): Promise<string> {
    return tokens.format(feedSubject(tenantId, [eventType], filters), [position])
  }

  /** Sends a control message, with one attempt. Never rejects. */
  async function send (
    { tenantId, secrets: sealed, subscription }: Callback, control: EventsControl, excerptBytes = 0
  ): Promise<SendResult> {
    const { id, webhook_id: webhookId, target_url: url } = subscription
    try {
      const opened = await Promise.all(sealed.map((secret) => secrets.open(secret, tenantId, webhookId)))
      const body = JSON.stringify(control)
      const headers = { ...signHeaders(opened, createControlId(control), body, clock.now()), [subscriptionHeader]: id }
      return await sender.send({ tenantId, url, headers, body, timeoutMs: controlTimeoutMs, excerptBytes })
    } catch (err) {
      log.error({ err, webhook_id: webhookId }, 'a message to the callback of an agent could not be signed')
      return { responseStatus: null, error: 'connection', durationMs: 0 }
    }
  }

  /** Sends messages in the background, a few at a time. */
  function sendAll (messages: ReadonlyArray<() => Promise<unknown>>): void {
    for (let from = 0; from < messages.length; from += atOnce) {
      notifying = notifying
        .then(() => isStopped ? null : Promise.all(messages.slice(from, from + atOnce).map((message) => message())))
        .catch((err: unknown) => log.error({ err }, 'messages to the callbacks of agents failed'))
    }
  }

  /** Notifies callbacks in the background that their subscriptions have ended, with one attempt each. */
  function notifyEnded (ended: Filled['ended']): void {
    sendAll(ended.map((one) => () => send(one, describeEnd(one.reason))))
  }

  function notifyGaps (gaps: readonly StoredSubscription[]): void {
    sendAll(gaps.map((gap) => async () => {
      const { tenantId, position, subscription: { event_type: type, filters } } = gap
      return send(gap, { type: 'gap', cursor: await formatCursor(tenantId, type, filters, position) })
    }))
  }

  async function fillOnce (options: { limit: number, eventTypes?: readonly string[] }): Promise<boolean> {
    try {
      const { hasMore, gaps, ended } = await subscriptions.fill({ ...options, window, environment })
      notifyGaps(gaps)
      notifyEnded(ended)
      ended.forEach(onEnd)
      return hasMore
    } catch (err) {
      log.error({ err }, "storage failed, agents' subscriptions wait")
      return false
    }
  }

  async function fillAll (): Promise<void> {
    while (!isStopped && await fillOnce({ limit: fillLimit }));
  }

  /** Moves events to the queues until nothing is left. Never rejects. */
  function fill (): Promise<void> {
    filling ??= fillAll().finally(() => { filling = null })
    return filling
  }

  function run (): void {
    fill().finally(() => { if (!isStopped) timer = clock.setTimeout(run, pollMs) }).catch(() => {})
  }

  return {
    formatCursor,
    send,
    notifyEnded,
    fill,

    /** Ends the subscriptions to other types than these in the background. */
    keepTypes (eventTypes: readonly string[]): void {
      notifying = Promise.all([notifying, fillOnce({ limit: 0, eventTypes })])
    },

    /**
     * Returns the body and headers of a delivery; `null` if its event was erased or is larger than the extension
     * allows, so that nothing is sent.
     */
    async format (delivery: ClaimedDelivery): Promise<{ body: string, headers: Record<string, string> } | null> {
      const { tenantId, eventType, subscription } = delivery
      if (!subscription) return { body: delivery.body, headers: {} }
      const { id, position, filters } = subscription
      const cursor = await formatCursor(tenantId, eventType, filters, position)
      const occurrence = formatOccurrence(JSON.parse(delivery.body || 'null'), cursor)
      const body = JSON.stringify(occurrence)
      if (occurrence === null || Buffer.byteLength(body) > maxBodyBytes) return null
      return { body, headers: { [subscriptionHeader]: id } }
    },

    /** Fills now, then polls the feed. */
    start: run,
    /** Stops polling, and waits up to `graceMs` for messages in flight. */
    async stop (graceMs: number): Promise<void> {
      isStopped = true
      clock.clearTimeout(timer)
      await waitUpTo(Promise.all([filling, notifying]), graceMs, clock)
    }
  }
}
