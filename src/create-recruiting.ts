import { assertOption } from './core/shared/read-options.js'
import {
  type EngineParts, kParts, type PluginOptions, type RecruitingOptions, readRecruitingOptions
} from './options.js'
import { createEngine, verifyStorage } from './core/webhooks/engine.js'
import { createPortal } from './around/portal/session.js'
import type { DefaultEvents, EventCatalogue } from './core/api/catalogue.js'
import { type Logger, createSafeLogger, createWarningLogger } from './core/observe/logger.js'
import type { StandaloneRecruiting } from './recruiting.js'

/**
 * Returns the same object as `app.recruiting`, for processes without an HTTP server that emit or deliver, and for
 * dependency injection: pass it to the plugin as `recruiting` later. It starts delivering immediately unless `delivery`
 * disables it, and keeps the process alive until it is closed. Throws `invalid_option`.
 */
export function createRecruiting<Events extends EventCatalogue = DefaultEvents> (
  options: RecruitingOptions<Events> & PluginOptions & {
    /**
     * A logger such as pino, whose methods take fields, then a message.
     * @default warnings and errors become process warnings, each message at most once a minute. Once the plugin has
     * this engine, the server's logger
     */
    logger?: Logger
  }
): StandaloneRecruiting<Events> {
  const settings = readRecruitingOptions(options)
  const { logger, ...given } = options
  let target = logger === undefined ? createWarningLogger(settings.delivery.clock) : logger
  for (const level of ['info', 'warn', 'error'] as const) {
    assertOption(typeof target?.[level] === 'function', `logger.${level}`, 'a method', target?.[level])
  }
  const log = createSafeLogger({
    info: (fields, message) => target.info(fields, message),
    warn: (fields, message) => target.warn(fields, message),
    error: (fields, message) => target.error(fields, message)
  })
  const engine = createEngine(settings, log)
  // Emits and deliveries keep trying, because the storage may become ready later.
  const verified = verifyStorage(settings, null, log).catch((err: unknown) =>
    log.error({ err }, 'the storage is not ready')
  )
  engine.start()
  const { portal, delivery: { clock } } = settings

  async function close (): Promise<void> {
    await Promise.all([engine.close(), verified])
  }

  const api = { ...settings, tenants: engine.tenants, report: engine.report }
  const recruiting: StandaloneRecruiting<EventCatalogue> = {
    ...engine.recruiting, portal: createPortal(portal, api, clock), close, health: engine.health
  }
  const parts: EngineParts = {
    options: given,
    engine,
    recruiting,
    attach (log, prefix) {
      if (logger === undefined) target = log
      api.prefix = prefix
    }
  }
  return Object.defineProperty(recruiting, kParts, { value: parts }) as StandaloneRecruiting<Events>
}
