import type { HealthNotice } from '../ports/index.js'
import { publishDisable } from './channels.js'
import type { Listeners } from './listeners.js'
import type { Logger } from './logger.js'

const messages = {
  failing: 'webhook keeps failing, it will be disabled',
  disabled: 'webhook disabled, it kept failing',
  gone: 'webhook disabled, it answered 410'
}

/** Tells the log, the diagnostics channel and the host's listeners what becomes of failing webhooks. */
export function createHealthReporter (listeners: Listeners, log: Logger): (notice: HealthNotice) => void {
  return (notice) => {
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
}
