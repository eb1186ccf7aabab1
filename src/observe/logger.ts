import type { Clock } from '../ports/index.js'
import { callHost, readText, toLoggableError } from './call-host.js'

/** The logger methods that this package calls, as in pino. `app.log` fits. */
export interface Logger {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

const ignore = (): void => {}

/**
 * Returns a logger that never throws. It drops lines that the given logger fails to write, and passes `err` through
 * `toLoggableError`, so that no thrown value can break a line.
 */
export function createSafeLogger (logger: Logger): Logger {
  const attempt = (level: keyof Logger) => (fields: object, message: string): void => {
    const safe = 'err' in fields ? { ...fields, err: toLoggableError(fields.err) } : fields
    callHost(() => logger[level](safe, message), ignore)
  }
  return { info: attempt('info'), warn: attempt('warn'), error: attempt('error') }
}

const intervalMs = 60_000
const hint = 'Pass a logger to createRecruiting to see every line.'

/** Returns a logger that emits warnings and errors as process warnings, each message at most once a minute. */
export function createWarningLogger (clock: Pick<Clock, 'monotonic'>): Logger {
  const writtenAtMs = new Map<string, number>()

  function warn ({ err, ...fields }: { err?: unknown }, message: string): void {
    const now = clock.monotonic()
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
