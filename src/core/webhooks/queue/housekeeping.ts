import type {
  ClaimedNotice, Clock, DeliveryStore, EventStorage, HealthEventType, HealthNotice
} from '../../ports/index.js'
import type { Logger } from '../../observe/logger.js'
import { waitUpTo } from '../../shared/clock.js'
import { type Listeners, publishDisable } from '../diagnostics.js'
import type { Runtime } from '../runtime.js'

const pruneLimit = 1000
const pruneEveryMs = 60 * 60 * 1000
// The delay is random, so that processes that start together do not prune together.
const longestStartDelayMs = 10 * 60 * 1000

/** Deletes old rows, in the background and when the host asks. */
export function createPruner (
  { deliveries, changes }: EventStorage,
  { retentionDays, changesRetentionDays }: { retentionDays: number, changesRetentionDays: number },
  { clock, runtime, log }: { clock: Clock, runtime: Runtime, log: Logger }
) {
  let timer: unknown
  let isStopped = false
  const underWay = new Set<Promise<number>>()

  async function pruneAll (pruneBatch: () => Promise<number>): Promise<number> {
    let total = 0
    while (!isStopped) {
      const count = await pruneBatch()
      if (count === 0) break
      total += count
      // A storage in memory never waits, and would block the event loop.
      await runtime.nextTick()
    }
    return total
  }

  async function pruneBoth (): Promise<number> {
    const deleted = await pruneAll(() => deliveries.prune({ retentionDays, limit: pruneLimit }))
    if (changes === undefined) return deleted
    return deleted + await pruneAll(() => changes.prune({ retentionDays: changesRetentionDays, limit: pruneLimit }))
  }

  /** Deletes rows older than their retention in batches, until it is stopped. Returns the number of deleted rows. */
  async function prune (): Promise<number> {
    const pruning = pruneBoth()
    underWay.add(pruning)
    return pruning.finally(() => underWay.delete(pruning))
  }

  function run (): void {
    prune()
      .catch((err: unknown) => log.error({ err }, 'pruning failed, will retry in an hour'))
      .finally(() => { if (!isStopped) timer = clock.setTimeout(run, pruneEveryMs) })
  }

  return {
    /** Prunes within ten minutes, then once an hour. */
    start (): void {
      timer = clock.setTimeout(run, runtime.random() * longestStartDelayMs)
    },
    prune,
    /** Starts no further batch, and waits up to `graceMs` for running ones. */
    async stop (graceMs: number): Promise<void> {
      isStopped = true
      clock.clearTimeout(timer)
      if (underWay.size > 0) await waitUpTo(Promise.allSettled(underWay), graceMs, clock)
    }
  }
}

const messages = {
  failing: 'webhook keeps failing, it will be disabled',
  disabled: 'webhook disabled, it kept failing',
  gone: 'webhook disabled, its endpoint returned 410 or asked for it'
}

const noticeLimit = 100
// If a process dies with a notice, another one reports it after this time.
const noticeLeaseMs = 60_000
const noticePollMs = 30_000

/**
 * Reports stored notices of failing webhooks to the log, the diagnostics channel and the host's listeners. Confirms
 * each afterwards, so it is reported at least once.
 */
export function createNoticeReporter (
  deliveries: DeliveryStore,
  listeners: Listeners,
  { environment, eventTypes, clock, log }: {
    environment: string | null
    eventTypes: readonly HealthEventType[]
    clock: Clock
    log: Logger
  }
) {
  let timer: unknown
  let isStopped = false
  let reporting: Promise<void> = Promise.resolve()
  const query = { limit: noticeLimit, leaseMs: noticeLeaseMs, environment, eventTypes }

  async function reportAll (): Promise<void> {
    try {
      for (const claimed of await deliveries.claimNotices(query)) {
        await reportOne(claimed)
      }
    } catch (err) {
      log.error({ err }, 'could not read notices of failing webhooks, will retry')
    }
  }

  async function reportOne ({ noticeId, notice }: ClaimedNotice): Promise<void> {
    callListeners(listeners, log, notice)
    try {
      await deliveries.confirmNotice(noticeId)
    } catch (err) {
      log.error(
        { err, webhook_id: notice.webhookId },
        'could not confirm a notice of a failing webhook, will report it again'
      )
    }
  }

  /** Reports stored notices after earlier calls have finished. Never rejects. */
  function report (): Promise<void> {
    reporting = reporting.then(reportAll)
    return reporting
  }

  function poll (): void {
    report().catch(() => {}).finally(() => { if (!isStopped) timer = clock.setTimeout(poll, noticePollMs) })
  }

  return {
    report,
    /** Reports stored notices now, then polls for notices that other processes left. */
    start (): void {
      poll()
    },
    /** Stops polling. Resolves when no report is running. */
    stop (): Promise<void> {
      isStopped = true
      clock.clearTimeout(timer)
      return reporting
    }
  }
}

/** Logs a notice and passes it to the host's listeners. */
function callListeners (listeners: Listeners, log: Logger, notice: HealthNotice): void {
  const { kind, webhookId, failingSince, failedDeliveries, lastError, lastDetail } = notice
  log.warn({
    webhook_id: webhookId,
    failing_since: failingSince,
    failed_deliveries: failedDeliveries,
    error: lastError,
    ...lastDetail === null ? {} : { detail: lastDetail }
  }, messages[kind])
  if (kind !== 'failing') publishDisable(notice)
  listeners.emit(kind === 'failing' ? 'webhookFailing' : 'webhookDisabled', notice)
}
