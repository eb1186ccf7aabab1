import type { FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { publicApi } from './core/http/api.js'
import { createIdempotency } from './core/http/idempotency.js'
import { createLimits } from './core/http/limits.js'
import type { ApiCaller } from './core/http/request.js'
import type { Portal, PortalCapability } from './core/http/sessions.js'
import { publishedFields } from './core/http/responses/published-rows.js'
import { trustsEveryProxy } from './core/http/client-address.js'
import { type PortalKeysSettings, readPortalKeysOption } from './core/keys/options.js'
import { type InjectedOptions, readApiOptions, type RecruitingApiOptions } from './options.js'
import { createEngine, verifyStorage } from './core/webhooks/engine.js'
import { shareStorage } from './core/shared/connections.js'
import type { Deprecation } from './core/shared/deprecation.js'
import { createSafeLogger } from './core/observe/logger.js'
import type { PortalFacts } from './around/portal/pages.js'
import { createPortal } from './around/portal/session.js'
import type { AgentSubscriptions, Mcp } from './around/mcp/endpoint.js'
import type { ToolConfig } from './around/mcp/tools.js'
import type { Recruiting, RegisteredRecruiting } from './recruiting.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** All calls for the host, such as `emit`. */
    recruiting: RegisteredRecruiting
  }
  interface FastifyRequest {
    /**
     * The caller of an API request and its tenant; `null` until the key was checked. Requests outside the API do not
     * have this property.
     */
    recruiting: ApiCaller
  }
  interface FastifyContextConfig {
    /** Scopes that a key must have, all of them. */
    scopes?: readonly string[]
    /** Scopes of which a key must have at least one. */
    anyScope?: readonly string[]
    /**
     * Capabilities that a portal session must have, all of them.
     * @default ['write'], for GET and HEAD ['read']
     */
    capabilities?: readonly PortalCapability[]
    /** Kind of the record that the route reads or changes, such as `application`, for the audit log. @default none */
    resource?: string
    /**
     * Announces the removal of the route, with the headers `Deprecation` and `Sunset` and a note in the document. For
     * your own routes.
     */
    deprecated?: Deprecation
    /**
     * Accepts the header `Idempotency-Key`, so that a repeated request changes nothing and gets the first successful
     * response, or 500 if its outcome is unknown. `'sealed'` does so only if `secretKeys` are set, for responses with
     * secrets. For your own POST routes; without `storage.idempotency` the header gets 400.
     * @default false
     */
    idempotent?: boolean | 'sealed'
    /**
     * Makes the route a tool of the option `mcp`. An object describes it to agents. For your own routes.
     * @default false
     */
    mcp?: boolean | ToolConfig
    /** `true` for every route of the API and its unknown paths, so that host hooks can skip them. */
    recruitingApi?: boolean
  }
}

type ApiSettings = ReturnType<typeof readApiOptions>

const plugin: FastifyPluginAsync<RecruitingApiOptions | InjectedOptions> = async (app, options) => {
  const settings = readApiOptions(options)
  const { storage, events, ids, prefix, publicUrl, portal: portalSettings, rateLimit, requestId } = settings
  const { clock, sourceIps } = settings.delivery
  const log = createSafeLogger(app.log)
  if (rateLimit?.failedKeys && trustsEveryProxy(app)) {
    log.warn(
      {},
      'trustProxy trusts every address, so clients can fake theirs and bypass rateLimit.failedKeys: ' +
      'name your proxies instead'
    )
  }
  await verifyStorage(settings, publishedFields(settings), log)
  const managedKeys = findManagedKeys(settings)
  const injected = settings.recruiting
  const engine = injected?.engine ?? createEngine(settings, log)
  const shared = shareStorage(storage)
  const idempotency = createIdempotency(shared.idempotency, engine.secrets, clock)
  const isKeyed = idempotency.accepts({ idempotent: 'sealed' })
  const scopes: string[] = []
  const subscriptions = settings.mcp?.events === true ? engine.subscriptions : null
  const portal = await loadPortal(settings, { keys: managedKeys, hasAgents: subscriptions !== null, isKeyed })
  const mcp = await loadMcp(settings, app.prefix, subscriptions)
  const perTenant = rateLimit?.perTenant ?? managedKeys !== null
  const limits = rateLimit === null ? null : await createLimits({ ...rateLimit, perTenant })
  if (limits !== null && managedKeys !== null && !perTenant) {
    log.warn({}, 'rateLimit.perTenant is false, so each key that a customer creates has a budget of its own')
  }
  const api = { publicUrl, prefix: `${app.prefix}${prefix}`, tenants: engine.tenants, report: engine.report }
  injected?.attach(log, api.prefix)
  const recruiting: Recruiting = injected?.recruiting ?? {
    ...engine.recruiting, health: engine.health, portal: createPortal(portalSettings, api, clock)
  }
  app.decorate('recruiting', { ...recruiting, scopes })
  app.addHook('onReady', async () => {
    if (injected === null) engine.start()
    // Only here: workers and processes of an earlier version may have another catalogue.
    subscriptions?.keepTypes(Object.keys(events))
  })
  // Before all onClose hooks: those of the host may end the pool that deliveries need. Open requests can still emit.
  app.addHook('preClose', () => engine.stop())
  app.addHook('onClose', () => engine.close())
  await app.register(
    publicApi({
      storage: shared,
      tenants: engine.tenants,
      events,
      ids,
      operations: engine.operations,
      subscriptions,
      settings,
      sourceIps,
      auditor: engine.auditor,
      tracing: engine.tracing,
      idempotency,
      portal,
      managedKeys,
      limits,
      extension: mcp?.extension ?? null,
      scopes
    }),
    { prefix }
  )
  if (mcp !== null) await app.register(mcp.metadata({ limits, requestId }))
}

/** Loads the portal, with its texts in all languages, only for hosts that use it. */
async function loadPortal (
  { portal, delivery: { clock, sourceIps } }: ApiSettings, facts: Omit<PortalFacts, 'sourceIps'>
): Promise<Portal | null> {
  if (portal === null) return null
  const { buildPortal } = await import('./around/portal/pages.js')
  return buildPortal(portal, { sourceIps, ...facts }, clock)
}

/** Customers can manage keys if the lookup stores them, even without a portal: with a key that has the scope for it. */
function findManagedKeys ({ portal, keyLookup }: ApiSettings): PortalKeysSettings | null {
  if (keyLookup.store === undefined) return null
  return portal === null ? readPortalKeysOption(undefined, 'portal.keys') : portal.keys
}

/** Loads the MCP server only for hosts that use it. */
async function loadMcp (
  { mcp, openapi, publicUrl, prefix, events }: ApiSettings, mount: string, subscriptions: AgentSubscriptions | null
): Promise<Mcp | null> {
  if (mcp === null) return null
  const { buildMcp } = await import('./around/mcp/endpoint.js')
  return buildMcp(mcp, { publicUrl, mount, prefix }, openapi, { events, subscriptions })
}

/** The supported versions of Fastify, including all pre-releases of 6.0.0. */
export const fastifyVersions = '5.x || ^6.0.0-0'

/**
 * The Fastify plugin. Mounts the public API and decorates the instance with `recruiting`. Registration throws
 * `invalid_option` for an invalid option.
 */
export const recruitingApi: FastifyPluginAsync<RecruitingApiOptions | InjectedOptions> = fastifyPlugin(plugin, {
  fastify: fastifyVersions,
  name: 'fastify-recruiting-api'
})
