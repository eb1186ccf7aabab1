import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import type { Static, TObject, TUnsafe } from '@sinclair/typebox'
import { expect } from '../shared/expect.js'
import type { TenantIdLookup, Tenants } from '../shared/tenants.js'
import { type AgentServer, agentRoute } from './agents.js'
import { decorateAddress } from './address.js'
import { Calls } from './calls.js'
import type { HttpSettings } from './options/api.js'
import type { Id, IdKinds, PublishedFields, RecruitingStorage } from '../ports/index.js'
import type { AuditListener } from '../observe/audit.js'
import type { Tracing } from '../observe/tracing.js'
import type { EventSchemas } from '../webhooks/events/catalogue.js'
import type { WebhookOperations } from '../webhooks/operations.js'
import { apiScopes } from '../keys/scopes.js'
import { compileRoutesLate } from './compilers.js'
import { collectRoutes, describeCapabilities, formatDocument } from './document/document.js'
import { placeInHostDocument } from './document/host-document.js'
import { operationIdOf, readScopes } from './document/operation.js'
import { hostRoutes } from './host-routes.js'
import { createLimits, limitOpenRequests, type Limits } from './limits/limits.js'
import { redactQueries } from './log.js'
import { shieldRoutes } from './input/validation.js'
import { Candidate, candidateOf, candidateRoutes } from './routes/candidates.js'
import { deliveryRoutes } from './routes/deliveries.js'
import { eventRoutes } from './routes/events.js'
import { eventTypeRoutes } from './routes/event-types.js'
import { Job, jobOf, jobRoutes } from './routes/jobs.js'
import { openapiRoute } from './routes/openapi.js'
import { syncRoute } from './routes/sync.js'
import { webhookActionRoutes } from './routes/webhook-actions.js'
import { webhookRoutes } from './routes/webhooks.js'
import { isolateScope } from './scope.js'
import type { Portal } from './sessions.js'
import { guardPort } from './wire-errors.js'
import { assertCandidateIds, assertJobIds } from './responses/rows.js'
import { writeAnswer } from './responses/failure.js'
import { Type } from '../shared/type-builder.js'

/** The parts that the API is built from. */
export interface ApiDependencies {
  tenants: Tenants
  storage: RecruitingStorage<Id, Id, Id, Id>
  events: EventSchemas
  ids: IdKinds
  operations: WebhookOperations
  settings: HttpSettings
  /** The addresses that notifications come from; empty if the host does not say. */
  sourceIps: readonly string[]
  onAudit: AuditListener | null
  tracing: Tracing | null
  portal: Portal | null
  /** Serves agents; `null` without the option. */
  agents: AgentServer | null
  /** Filled with the scopes of all routes. */
  scopes: string[]
}

/** Returns a plugin that serves everything below the prefix: the tenants' API in a closed scope, and its document. */
export function publicApi (dependencies: ApiDependencies): FastifyPluginAsync {
  return async (app) => {
    const { openapi, publicUrl, rateLimit, requestId } = dependencies.settings
    const limits = rateLimit === null ? null : await createLimits(rateLimit)
    placeInHostDocument(app, openapi?.inHostDocument === true)
    let routes: RouteOptions[] = []
    redactQueries(app)
    app.addHook('onRoute', (route) => { route.config = { ...route.config, recruitingApi: true } })
    await app.register(async (scope) => {
      routes = collectRoutes(scope)
      // Handles errors that are thrown while the inner scope's error handler sends its response.
      scope.setErrorHandler(writeAnswer)
      await scope.register(tenantApi(dependencies, limits, routes))
    }, { prefix: '/:tenant_slug' })
    assertLimited(dependencies.settings, routes)
    dependencies.scopes.push(...new Set([...apiScopes, ...routes.flatMap(readScopes)]))
    if (dependencies.portal !== null) await app.register(dependencies.portal.pages)
    if (openapi === null) return
    const format = (): object => formatDocument(routes, dependencies.events, { openapi, publicUrl })
    await app.register(async (scope) => {
      if (limits !== null) limitOpenRequests(scope, limits, requestId)
      await scope.register(openapiRoute({ format, inHostDocument: openapi.inHostDocument, isLimited: limits !== null }))
    })
  }
}

function tenantApi (dependencies: ApiDependencies, limits: Limits | null, routes: readonly RouteOptions[]): FastifyPluginAsync {
  const { storage, tenants, events, settings, onAudit, tracing, ids, portal, agents } = dependencies
  const operations = guardPort(dependencies.operations)
  const candidates = guardPort(storage.candidates)
  const jobs = guardPort(storage.jobs)
  const changes = storage.changes && guardPort(storage.changes)
  const feed = storage.feed && guardPort(storage.feed)
  return async (scope) => {
    const calls = agents === null ? null : new Calls(limits)
    isolateScope(scope, {
      tenants,
      keyLookup: settings.keyLookup,
      sessions: portal?.sessions ?? null,
      errorDetails: settings.errorDetails,
      requestId: settings.requestId,
      onAudit,
      tracing,
      limits,
      calls
    })
    decorateAddress(scope, settings.publicUrl)
    if (portal !== null) describeCapabilities(scope)
    await scope.register(async (own) => {
      shieldRoutes(own)
      if (agents !== null) own.addHook('onRoute', (route) => { route.config = { mcp: true, ...route.config } })
      // Fields of the host may have a schema that cannot be compiled: then the registration fails.
      if (!hasOwnFields(settings)) compileRoutesLate(own, settings.errorDetails)
      const candidate = withFields(candidateOf(ids), settings.candidateFields)
      const job = withFields(jobOf(ids), settings.jobFields)
      const hasSessions = portal !== null
      const plugins = [
        candidateRoutes(candidates, candidate, ids),
        syncRoute(changes, { kind: 'candidate', source: candidates, item: candidate, assertIds: assertCandidateIds, ids }),
        jobRoutes(jobs, job, ids),
        syncRoute(changes, { kind: 'job', source: jobs, item: job, assertIds: assertJobIds, ids }),
        webhookRoutes(operations, { hasSessions }),
        webhookActionRoutes(operations),
        deliveryRoutes(operations, { hasSessions }),
        eventTypeRoutes(operations, dependencies.sourceIps),
        eventRoutes(feed, events, operations)
      ]
      for (const plugin of plugins) await own.register(plugin)
    })
    if (settings.routes !== null) await scope.register(hostRoutes(settings.routes))
    if (agents !== null && calls !== null) await scope.register(agentRoute(agents, calls, routes))
  }
}

function hasOwnFields ({ candidateFields, jobFields }: HttpSettings): boolean {
  return Object.keys({ ...candidateFields.properties, ...jobFields.properties }).length > 0
}

/** Refuses limits for an operation that does not exist: a typo would limit nothing. */
function assertLimited ({ rateLimit }: HttpSettings, routes: readonly RouteOptions[]): void {
  const known = routes.map(({ schema }) => operationIdOf(schema))
  for (const operationId of Object.keys(rateLimit?.operations ?? {})) {
    expect(known.includes(operationId), `rateLimit.operations.${operationId}`, 'the operationId of a route', operationId)
  }
}

/** Returns what the API requests from the storage: fields, and kinds of ids. */
export function publishedFields (
  { candidateFields, jobFields, ids, tenantId }: HttpSettings & { ids: IdKinds, tenantId: TenantIdLookup | null }
): PublishedFields {
  return {
    candidates: Object.keys(withFields(Candidate, candidateFields).properties),
    jobs: Object.keys(withFields(Job, jobFields).properties),
    ids,
    hasTenantIds: tenantId !== null
  }
}

/** Adds the fields that the host publishes to an item. Reads `required`, because each TypeBox marks optional fields in its own way. */
function withFields<Item extends TObject> (item: Item, fields: TObject): TUnsafe<Static<Item>> {
  const required = [item, fields].flatMap(({ required = [] }) => required)
  return Type.Unsafe<Static<Item>>({ ...item, properties: { ...item.properties, ...fields.properties }, required })
}
