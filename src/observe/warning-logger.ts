import { readText } from './loggable-error.js'
import type { Clock } from '../ports/index.js'
import type { Logger } from './logger.js'

const intervalMs = 60_000
const hint = 'Pass a logger to createRecruiting to see every line.'

/** Returns a logger that emits warnings and errors as process warnings, each message at most once a minute. */
export function createWarningLogger (clock: Pick<Clock, 'now'>): Logger {
  const writtenAtMs = new Map<string, number>()

  function warn ({ err, ...fields }: { err?: unknown }, message: string): void {
    const now = clock.now()
    if (now - (writtenAtMs.get(message) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    writtenAtMs.set(message, now)
    // A failed connection to several addresses gives an error with a code and no message.
    const cause = readText(err, 'message') || readText(err, 'code')
    process.emitWarning(cause === undefined ? message : `${message}: ${cause}`, {
      type: 'RecruitingWarning',
      detail: `${hint} ${JSON.stringify(fields)}`
    })
  }

  return { info () {}, warn, error: warn }
}
