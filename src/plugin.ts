import type { FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { publicApi, publishedFields } from './http/api.js'
import type { PortalCapability } from './http/sessions.js'
import { trustsEveryProxy } from './http/limits/trust-proxy.js'
import { type RecruitingApiOptions, readApiOptions } from './options/api.js'
import { createEngine, verifyStorage } from './webhooks/engine.js'
import { createSafeLogger } from './observe/logger.js'
import { buildPortal } from './portal/build-portal.js'
import { createPortal } from './portal/create-portal.js'
import type { RegisteredRecruiting } from './recruiting.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Emits events, and everything else a host does by code. */
    recruiting: RegisteredRecruiting
  }
  interface FastifyContextConfig {
    /** Scopes that a key must have, all of them. */
    scopes?: readonly string[]
    /** Scopes of which a key must have at least one. */
    anyScope?: readonly string[]
    /**
     * Capabilities that a session of the portal must have, all of them.
     * @default ['write'], for GET and HEAD ['read']
     */
    capabilities?: readonly PortalCapability[]
    /** `true` on every route of the API, and for its unknown paths, so that a hook of the host can step aside. */
    recruitingApi?: boolean
  }
}

const plugin: FastifyPluginAsync<RecruitingApiOptions> = async (app, options) => {
  const settings = readApiOptions(options)
  const { storage, events, ids, prefix } = settings
  const log = createSafeLogger(app.log)
  if (settings.rateLimit?.failedKeys && trustsEveryProxy(app)) {
    log.warn({}, 'trustProxy trusts every address, so callers choose their own, which defeats rateLimit.failedKeys: name your proxies instead')
  }
  await verifyStorage(storage, publishedFields(settings), log)
  const { portal: portalSettings, delivery: { clock } } = settings
  const portal = portalSettings === null ? null : await buildPortal(portalSettings, clock)
  const engine = createEngine(settings, log)
  app.decorate('recruiting', { ...engine.recruiting, portal: createPortal(portalSettings, `${app.prefix}${prefix}`, clock) })
  app.addHook('onReady', async () => engine.start())
  // Before all onClose hooks: those of the host may end the pool that deliveries need. Requests in progress still emit.
  app.addHook('preClose', () => engine.stop())
  app.addHook('onClose', () => engine.close())
  await app.register(publicApi({ storage, events, ids, operations: engine.operations, settings, tracing: engine.tracing, portal }), { prefix })
}

/**
 * The Fastify plugin: mounts the public API and decorates the instance with `recruiting`. Registration throws
 * `invalid_option` for a wrong option.
 */
export const recruitingApi: FastifyPluginAsync<RecruitingApiOptions> = fastifyPlugin(plugin, { fastify: '5.x', name: 'fastify-recruiting-api' })
