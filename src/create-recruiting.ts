import { expect } from './shared/expect.js'
import { readRecruitingOptions } from './options/api.js'
import type { RecruitingOptions } from './options/recruiting.js'
import { createEngine, verifyStorage } from './webhooks/engine.js'
import { createPortal } from './portal/create-portal.js'
import type { Recruiting } from './recruiting.js'
import type { DefaultEvents, EventCatalogue } from './webhooks/events/catalogue.js'
import { type Logger, createSafeLogger } from './observe/logger.js'
import { createWarningLogger } from './observe/warning-logger.js'

/** An engine without an HTTP server. */
export interface StandaloneRecruiting<Events extends EventCatalogue> extends Recruiting<Events> {
  /** Claims no more, lets attempts end, gives the leases of the others back. May be called again. */
  close (): Promise<void>
}

/**
 * The same object as `app.recruiting`, for processes without an HTTP server: those that emit, and those that deliver.
 * It delivers at once unless `delivery` says otherwise, and keeps the process alive until it is closed. Throws
 * `invalid_option`.
 */
export function createRecruiting<Events extends EventCatalogue = DefaultEvents> (
  options: RecruitingOptions<Events> & {
    /**
     * pino or the like: takes fields, then a message.
     * @default warnings and errors become process warnings, each message at most once a minute
     */
    logger?: Logger
  }
): StandaloneRecruiting<Events> {
  const settings = readRecruitingOptions(options)
  const { logger = createWarningLogger(settings.delivery.clock) } = options
  for (const level of ['info', 'warn', 'error'] as const) {
    expect(typeof logger?.[level] === 'function', `logger.${level}`, 'a method', logger?.[level])
  }
  const log = createSafeLogger(logger)
  const engine = createEngine(settings, log)
  // Emitting and delivering go on trying: a storage that is not ready now may be in a moment.
  verifyStorage(settings.storage, null, log).catch((err: unknown) => log.error({ err }, 'the storage is not ready'))
  engine.start()
  const { portal, prefix, delivery: { clock } } = settings
  return { ...engine.recruiting, portal: createPortal(portal, prefix, clock), close: engine.close }
}
