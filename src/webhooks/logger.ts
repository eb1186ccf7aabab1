/** What is asked of a logger: pino's methods, objects first. `app.log` fits. */
export interface Logger {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

const ignore = (): void => {}

/** Says nothing. */
export const silentLogger: Logger = { info: ignore, warn: ignore, error: ignore }

/** A logger that fails takes nothing else down with it: what it should have said is lost, and that is all. */
export function createSafeLogger (logger: Logger): Logger {
  const attempt = (level: keyof Logger) => (fields: object, message: string): void => {
    try {
      logger[level](fields, message)
    } catch {}
  }
  return { info: attempt('info'), warn: attempt('warn'), error: attempt('error') }
}
