import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import { type Static, type TObject, type TUnsafe, Type } from '@sinclair/typebox'
import { expect } from '../shared/expect.js'
import type { HttpSettings } from './settings.js'
import type { Id, IdKinds, PublishedFields, RecruitingStorage } from '../ports/index.js'
import type { Tracing } from '../observe/tracing.js'
import type { EventCatalogue } from '../webhooks/events/catalogue.js'
import type { WebhookOperations } from '../webhooks/operations.js'
import { describeCapabilities } from './document/capabilities.js'
import { collectRoutes, formatDocument } from './document/document.js'
import { placeInHostDocument } from './document/host-document.js'
import { hostRoutes } from './host-routes.js'
import { limitOpenRequests } from './limits/limit-open-requests.js'
import { type Limits, createLimits } from './limits/limits.js'
import { operationIdOf } from './operation-id.js'
import { redactQueries } from './redact-log.js'
import { shieldRoutes } from './input/read-input.js'
import { candidateRoutes } from './routes/candidates.js'
import { deliveryRoutes } from './routes/deliveries.js'
import { eventTypeRoutes } from './routes/event-types.js'
import { jobRoutes } from './routes/jobs.js'
import { openapiRoute } from './routes/openapi.js'
import { syncRoute } from './routes/sync.js'
import { webhookActionRoutes } from './routes/webhook-actions.js'
import { webhookRoutes } from './routes/webhooks.js'
import { Candidate, candidateOf } from './schemas/candidate.js'
import { Job, jobOf } from './schemas/job.js'
import { ownScope } from './scope.js'
import type { Portal } from './sessions.js'
import { assertCandidateIds, assertJobIds } from './answers/row-ids.js'
import { writeAnswer } from './answers/send-error.js'

/** The parts that the API is built from. */
export interface ApiDependencies {
  storage: RecruitingStorage<Id, Id, Id, Id>
  events: EventCatalogue
  ids: IdKinds
  operations: WebhookOperations
  settings: HttpSettings
  tracing: Tracing | null
  portal: Portal | null
}

/** Returns a plugin that serves everything below the prefix: the tenants' API in a closed scope, and its document. */
export function publicApi (dependencies: ApiDependencies): FastifyPluginAsync {
  return async (app) => {
    const { openapi, rateLimit, requestId } = dependencies.settings
    const limits = rateLimit === null ? null : await createLimits(rateLimit)
    placeInHostDocument(app, openapi?.inHostDocument === true)
    let routes: RouteOptions[] = []
    redactQueries(app)
    app.addHook('onRoute', (route) => { route.config = { ...route.config, recruitingApi: true } })
    await app.register(async (scope) => {
      routes = collectRoutes(scope)
      // Handles errors that are thrown while the inner scope's error handler sends its answer.
      scope.setErrorHandler(writeAnswer)
      await scope.register(tenantApi(dependencies, limits))
    }, { prefix: '/:tenant_slug' })
    assertLimited(dependencies.settings, routes)
    if (dependencies.portal !== null) await app.register(dependencies.portal.pages)
    if (openapi === null) return
    const format = (): object => formatDocument(routes, dependencies.events, openapi)
    await app.register(async (scope) => {
      if (limits !== null) limitOpenRequests(scope, limits, requestId)
      await scope.register(openapiRoute({ format, inHostDocument: openapi.inHostDocument, isLimited: limits !== null }))
    })
  }
}

function tenantApi (dependencies: ApiDependencies, limits: Limits | null): FastifyPluginAsync {
  const { storage, operations, settings, tracing, ids, portal } = dependencies
  return async (scope) => {
    ownScope(scope, {
      keyLookup: settings.keyLookup,
      sessions: portal?.sessions ?? null,
      errorDetails: settings.errorDetails,
      requestId: settings.requestId,
      onAudit: settings.onAudit,
      tracing,
      limits
    })
    if (portal !== null) describeCapabilities(scope)
    await scope.register(async (own) => {
      shieldRoutes(own)
      const candidate = withFields(candidateOf(ids), settings.candidateFields)
      await own.register(candidateRoutes(storage.candidates, candidate, ids))
      await own.register(syncRoute(storage.changes, { kind: 'candidate', source: storage.candidates, item: candidate, assertIds: assertCandidateIds, ids }))
      const job = withFields(jobOf(ids), settings.jobFields)
      await own.register(jobRoutes(storage.jobs, job, ids))
      await own.register(syncRoute(storage.changes, { kind: 'job', source: storage.jobs, item: job, assertIds: assertJobIds, ids }))
      await own.register(webhookRoutes(operations))
      await own.register(webhookActionRoutes(operations))
      await own.register(deliveryRoutes(operations, { hasSessions: portal !== null }))
      await own.register(eventTypeRoutes(operations))
    })
    if (settings.routes !== null) await scope.register(hostRoutes(settings.routes))
  }
}

/** Refuses limits for an operation that does not exist: a typo would limit nothing. */
function assertLimited ({ rateLimit }: HttpSettings, routes: readonly RouteOptions[]): void {
  const known = routes.map(({ schema }) => operationIdOf(schema))
  for (const operationId of Object.keys(rateLimit?.operations ?? {})) {
    expect(known.includes(operationId), `rateLimit.operations.${operationId}`, 'the operationId of a route', operationId)
  }
}

/** Returns the fields that the API requests from the storage, and the kinds of their ids. */
export function publishedFields ({ candidateFields, jobFields, ids }: HttpSettings & { ids: IdKinds }): PublishedFields {
  return {
    candidates: Object.keys(withFields(Candidate, candidateFields).properties),
    jobs: Object.keys(withFields(Job, jobFields).properties),
    ids
  }
}

/** Adds the fields that the host publishes to an item. */
function withFields<Item extends TObject> (item: Item, fields: TObject): TUnsafe<Static<Item>> {
  return Type.Unsafe<Static<Item>>(Type.Object({ ...item.properties, ...fields.properties }, { title: String(item.title) }))
}
