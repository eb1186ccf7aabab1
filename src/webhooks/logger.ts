/** What is asked of a logger: pino's methods, objects first. `app.log` fits. */
export interface Logger {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

export const silentLogger: Logger = { info () {}, warn () {}, error () {} }
