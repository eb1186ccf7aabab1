import { callHost } from './call-host.js'
import { toLoggableError } from './loggable-error.js'

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
