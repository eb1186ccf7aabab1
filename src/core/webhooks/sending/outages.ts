import type { Logger } from '../../observe/logger.js'
import type { Clock } from '../../ports/index.js'
import { type Listeners, publishOutage } from '../diagnostics.js'
import type { Outage } from '../recruiting.js'
import type { OwnFault, SendResult } from './sender.js'

// An open connection still works while new ones fail.
const quietMs = 60_000

export type Outages = ReturnType<typeof createOutages>

/**
 * Reports the faults of this process that keep it from sending: once when one begins, and once when it is over, which
 * is when an attempt succeeds and the last such fault is a minute old.
 */
export function createOutages (listeners: Listeners, log: Logger, clock: Clock) {
  const open = new Map<OwnFault['cause'], { outage: Outage, lastAtMs: number }>()

  function report (outage: Outage): void {
    const { cause, reason, startedAt, endedAt, attempts } = outage
    if (endedAt === null) log.error({ cause, reason }, 'this process cannot send, deliveries wait')
    else log.info({ cause, started_at: startedAt, attempts }, 'this process can send again')
    publishOutage(outage)
    listeners.emit('outage', outage)
  }

  function begin ({ cause, reason }: OwnFault): void {
    const known = open.get(cause)
    if (known !== undefined) {
      known.outage.attempts++
      known.lastAtMs = clock.monotonic()
      return
    }
    const outage = { cause, reason, startedAt: new Date(clock.now()).toISOString(), endedAt: null, attempts: 1 }
    open.set(cause, { outage, lastAtMs: clock.monotonic() })
    report({ ...outage })
  }

  function endQuiet (): void {
    for (const [cause, { outage, lastAtMs }] of open) {
      if (clock.monotonic() - lastAtMs < quietMs) continue
      open.delete(cause)
      report({ ...outage, endedAt: new Date(clock.now()).toISOString() })
    }
  }

  return {
    add ({ ownFault, responseStatus }: SendResult): void {
      if (ownFault !== undefined) begin(ownFault)
      else if (open.size > 0 && responseStatus !== null) endQuiet()
    }
  }
}
