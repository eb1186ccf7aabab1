import type { ClaimedNotice, Clock, DeliveryStore, HealthNotice } from '../../ports/index.js'
import { type Listeners, publishDisable } from '../listeners.js'
import type { Logger } from '../../observe/logger.js'

const messages = {
  failing: 'webhook keeps failing, it will be disabled',
  disabled: 'webhook disabled, it kept failing',
  gone: 'webhook disabled, it returned 410'
}

const batchSize = 100
// If a process dies with a notice, another one reports it after this time.
const leaseMs = 60_000
const pollMs = 30_000

/** Reports notices of failing webhooks to the host. */
export interface NoticeReporter {
  /** Reports stored notices now, and then regularly those that other processes left. */
  start (): void
  /** Reports stored notices. Never rejects. */
  report (): Promise<void>
  /** Stops polling. Resolves when no report is under way. */
  stop (): Promise<void>
}

/**
 * Writes a notice to the log, the diagnostics channel and the host's listeners, then confirms it: each arrives at
 * least once.
 */
export function createNoticeReporter (
  deliveries: DeliveryStore,
  listeners: Listeners,
  { environment, clock, log }: { environment: string | null; clock: Clock; log: Logger }
): NoticeReporter {
  let timer: unknown
  let isStopped = false
  let reporting: Promise<void> = Promise.resolve()

  async function reportAll (): Promise<void> {
    try {
      for (const claimed of await deliveries.claimNotices({ limit: batchSize, leaseMs, environment })) {
        await reportOne(claimed)
      }
    } catch (err) {
      log.error({ err }, 'could not read notices of failing webhooks, will retry')
    }
  }

  async function reportOne ({ noticeId, notice }: ClaimedNotice): Promise<void> {
    tell(listeners, log, notice)
    try {
      await deliveries.confirmNotice(noticeId)
    } catch (err) {
      log.error(
        { err, webhook_id: notice.webhookId },
        'could not confirm a notice of a failing webhook, will report it again'
      )
    }
  }

  /** Reports run one after another. */
  function report (): Promise<void> {
    reporting = reporting.then(reportAll)
    return reporting
  }

  async function poll (): Promise<void> {
    await report()
    if (!isStopped) timer = clock.setTimeout(poll, pollMs)
  }

  return {
    report,
    start () {
      poll()
    },
    stop () {
      isStopped = true
      clock.clearTimeout(timer)
      return reporting
    }
  }
}

function tell (listeners: Listeners, log: Logger, notice: HealthNotice): void {
  const { kind, webhookId, failingSince, failedDeliveries, lastError } = notice
  log.warn({
    webhook_id: webhookId,
    failing_since: failingSince,
    failed_deliveries: failedDeliveries,
    error: lastError
  }, messages[kind])
  if (kind !== 'failing') publishDisable(notice)
  listeners.emit(kind === 'failing' ? 'webhookFailing' : 'webhookDisabled', notice)
}
