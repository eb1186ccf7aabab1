import { callHost } from './call-host.js'
import { toLoggableError } from './loggable-error.js'

/** What is asked of a logger: pino's methods, objects first. `app.log` fits. */
export interface Logger {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

const ignore = (): void => {}

/**
 * Returns a logger that never throws: a line that the given logger fails to write is lost, also if it says so later. An
 * `err` among the fields is written by `toLoggableError`, so that no thrown value can fail a line.
 */
export function createSafeLogger (logger: Logger): Logger {
  const attempt = (level: keyof Logger) => (fields: object, message: string): void => {
    const safe = 'err' in fields ? { ...fields, err: toLoggableError(fields.err) } : fields
    callHost(() => logger[level](safe, message), ignore)
  }
  return { info: attempt('info'), warn: attempt('warn'), error: attempt('error') }
}
