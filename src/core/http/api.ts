import type { FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'
import { callOperations, type EngineOperations } from '../api/calls.js'
import { eventTypeOperations } from '../api/events.js'
import type { Performed } from '../api/operation.js'
import { candidateList, jobList } from '../api/rows.js'
import { apiScopes } from '../api/scopes.js'
import { subscriptionOperations } from '../api/subscriptions.js'
import { expectScopes } from '../keys/api-key.js'
import type { Id, IdKinds, RecruitingStorage, StoresAnswers } from '../ports/index.js'
import { shareConnections } from '../shared/connections.js'
import { assertOption } from '../shared/read-options.js'
import type { Tenants } from '../shared/tenants.js'
import type { EventSchemas } from '../api/catalogue.js'
import { createAccessCheck, createLookup, maxKeyLength } from './auth.js'
import { trustsEveryProxy } from './client-address.js'
import { formatDocument, inHostDocument } from './document/document.js'
import { operationIdOf, readScopes } from './document/operation.js'
import { completeHostRoute } from './host-routes.js'
import { isolateBodyParser, createCompilers, createLateCompilers } from './input.js'
import { limitOpenRequests } from './limits.js'
import { prepareLoggers } from './log.js'
import type { PortalKeysSettings } from '../keys/options.js'
import type { HttpSettings } from './options.js'
import { decorateRequests } from './request.js'
import { sendError, writeAnswer } from './responses/failure.js'
import { hasOwnFields, publishCandidates, publishedFields, publishJobs } from './responses/published-rows.js'
import { defineRoutes, openingHooks, readInput, type RouteContext, startRequest } from './route.js'
import { listKeyOperations, listOwnKeyOperations } from './routes/api-keys.js'
import { listEventOperations } from './routes/events.js'
import { openapiRoute } from './routes/openapi.js'
import { type ApiOperation, describeSources, listRoutes, perform } from './routes/operations.js'
import { listRowOperations } from './routes/rows.js'
import { listSyncOperations, missingSync } from './routes/sync.js'
import type { Portal } from './sessions.js'
import { createFollowed, type Followed, hideUnrecorded } from './sync.js'
import { guardPort, HttpError } from './wire-errors.js'

interface ApiDependencies extends Pick<RouteContext, 'limits' | 'auditor' | 'tracing' | 'idempotency'> {
  tenants: Tenants
  storage: RecruitingStorage<Id, Id, Id, Id>
  events: EventSchemas
  ids: IdKinds
  operations: EngineOperations
  /** The operations on agents' subscriptions; `null` if agents cannot subscribe. */
  subscriptions: Performed<typeof subscriptionOperations> | null
  settings: HttpSettings
  /** The addresses that notifications come from; empty without the option. */
  sourceIps: readonly string[]
  portal: Portal | null
  /** The settings of the keys that customers manage; `null` without them. */
  managedKeys: PortalKeysSettings | null
  extension: ApiExtension | null
  /** Filled with the scopes of all routes. */
  scopes: string[]
}

/** Additional routes of each tenant, which call the other routes. */
export interface ApiExtension {
  /** Maximum length of the keys that its routes accept. */
  maxKeyLength: number
  /** Returns the context of all other routes, which accepts its calls. */
  admit (context: RouteContext): RouteContext
  /** Registers its routes after all others. */
  register (scope: FastifyInstance, routes: readonly RouteOptions[]): void
}

/** Returns a plugin that serves everything below the prefix: the tenants' API in its own scope, and its document. */
export function publicApi (dependencies: ApiDependencies): FastifyPluginAsync {
  return async (app) => {
    const { limits, settings: { openapi, publicUrl, requestId } } = dependencies
    const routes: RouteOptions[] = []
    prepareLoggers(app, requestId)
    await app.register(async (scope) => {
      // Handles errors thrown while the inner scope's error handler sends its response.
      scope.setErrorHandler(writeAnswer)
      await scope.register(tenantApi(dependencies, routes))
    }, { prefix: '/:tenant_slug' })
    assertLimited(dependencies.settings, routes)
    dependencies.scopes.push(...new Set([...apiScopes, ...routes.flatMap(readScopes)]))
    expectScopes(dependencies.managedKeys?.scopes ?? [], 'portal.keys.scopes', dependencies.scopes)
    const config = { ...inHostDocument(openapi?.inHostDocument === true), recruitingApi: true }
    if (dependencies.portal !== null) await app.register(dependencies.portal.pages, { config })
    if (openapi === null) return
    const format = (): object => formatDocument(routes, dependencies.events, { openapi, publicUrl })
    await app.register(async (scope) => {
      if (limits !== null) limitOpenRequests(scope, limits, requestId)
      const isLimited = limits !== null
      await scope.register(openapiRoute({ format, inHostDocument: openapi.inHostDocument, isLimited, config }))
    })
  }
}

function tenantApi (dependencies: ApiDependencies, routes: RouteOptions[]): FastifyPluginAsync {
  const { tenants, storage, settings, limits, auditor, tracing, idempotency, portal, extension } = dependencies
  const { errorDetails, keyLookup, publicUrl, requestId, openapi } = settings
  const hasSessions = portal !== null

  return async (scope) => {
    const sessions = portal?.sessions ?? null
    const followed = createFollowed(storage)
    const isAddressForgeable = trustsEveryProxy(scope)
    const guard = limits?.guard ?? ((check) => check)
    const lookUp = createLookup({ tenants, keyLookup, sessions, isAddressForgeable }, guard)
    const outer: RouteContext = {
      findAccess: createAccessCheck(lookUp, maxKeyLength),
      isSuspended: tenants.isSuspended,
      requestId,
      publicUrl,
      connections: storage.connections,
      followed,
      limits,
      tracing,
      auditor,
      idempotency,
      isInHostDocument: openapi?.inHostDocument === true,
      hasSessions,
      // Registration fails if a field of the host has a schema that cannot be compiled.
      compilers: hasOwnFields(settings) ? createCompilers(errorDetails) : createLateCompilers(errorDetails),
      isOfHost: false
    }
    const context = extension?.admit(outer) ?? outer
    isolateScope(scope, context, errorDetails)

    await scope.register(async (own) => {
      defineRoutes(own, context, { routes })
      const operations = await listOperations(dependencies, followed)
      for (const route of listRoutes(operations, hasSessions)) own.route(route)
      for (const kind of ['candidate', 'job'] as const) {
        const route = missingSync(kind)
        if (!operations.some(({ path }) => path === route.url)) own.route(route)
      }
    })
    if (settings.routes !== null) {
      const { routes: plugin } = settings
      await scope.register(async (host) => {
        const compilers = createCompilers(errorDetails)
        defineRoutes(host, { ...context, compilers, isOfHost: true }, { routes, complete: completeHostRoute })
        // The plugin's hooks run later, and can change the input.
        host.addHook('preValidation', readInput)
        await host.register(plugin as FastifyPluginAsync)
      })
      await hideUnrecorded(routes, followed, scope.log)
    }
    if (extension !== null) {
      await scope.register(async (own) => {
        const findAccess = createAccessCheck(lookUp, extension.maxKeyLength)
        defineRoutes(own, { ...outer, findAccess, compilers: createCompilers(errorDetails) }, { routes })
        extension.register(own, routes)
      })
    }
  }
}

async function listOperations (
  { storage, settings, ids, events, sourceIps, managedKeys, ...dependencies }: ApiDependencies,
  followed: Followed
): Promise<ApiOperation[]> {
  const candidates = guardPort(storage.candidates)
  const jobs = guardPort(storage.jobs)
  const candidate = publishCandidates(settings.candidateFields, ids)
  const job = publishJobs(settings.jobFields, ids)
  const { keyLookup: { store } } = settings
  const engine = guardPort(dependencies.operations)
  const database = storage.idempotency?.database
  /** Keeps an operation atomic if all of its stores share a database with the answers, or if it changes nothing. */
  function checkAtomic (entry: ApiOperation, stores: StoresAnswers[]): ApiOperation {
    const isReading = typeof entry.hints === 'object' && entry.hints.readOnly === true
    const isShared = database !== undefined && stores.every((store) => store.database === database)
    return { ...entry, isAtomic: entry.isAtomic === true && (isShared || isReading) }
  }
  const ofEngine = perform({
    ...callOperations, listEventTypes: describeSources(eventTypeOperations.listEventTypes, sourceIps)
  }, engine).map((entry) => checkAtomic(entry, [storage.webhooks, storage.deliveries]))
  const published = publishedFields({ ...settings, ids, tenantId: null })
  for (const [name, option] of [['candidates', 'candidateFilters'], ['jobs', 'jobFilters']] as const) {
    const isServed = published.filters[name].length === 0 || storage[name].ownFilters === true
    assertOption(isServed, option, `storage.${name} with ownFilters`, storage[name].ownFilters)
  }
  return [
    ...listRowOperations(candidates, candidate, candidateList, ids, published.filters.candidates),
    ...await listSyncOperations(followed, 'candidate', candidates, candidate, ids),
    ...listRowOperations(jobs, job, jobList, ids, published.filters.jobs),
    ...await listSyncOperations(followed, 'job', jobs, job, ids),
    ...ofEngine.filter(({ needsFeed }) => !needsFeed),
    ...followed.feed === null
      ? []
      : [
          ...listEventOperations(followed.feed, events, engine.listUsedEventTypes),
          ...ofEngine.filter(({ needsFeed }) => needsFeed)
        ],
    ...listOwnKeyOperations(dependencies.limits),
    ...dependencies.subscriptions === null
      ? []
      : perform(subscriptionOperations, guardPort(dependencies.subscriptions)),
    ...store === undefined || managedKeys === null
      ? []
      : listKeyOperations(
        shareConnections(store, 'keys', storage.connections), storage.webhooks, managedKeys, published
      ).map((entry) => checkAtomic(entry, [store]))
  ]
}

/** Sets the scope's parser, error handler and not-found handler, so that the host's own do not change the API. */
function isolateScope (scope: FastifyInstance, context: RouteContext, errorDetails: boolean): void {
  decorateRequests(scope)
  isolateBodyParser(scope)
  scope.setErrorHandler((error, request, reply) => {
    const { id } = startRequest(context, request, reply)
    return sendError(error, request, reply, { id, errorDetails })
  })
  const config = { recruitingApi: true }
  // Fastify accepts more route options here than its types declare.
  const options = { preHandler: [], config, ...openingHooks(context, { config, method: [] }) }
  scope.setNotFoundHandler(options, () => { throw new HttpError('not_found') })
}

/** Throws if a limit names an operation that does not exist: with a typo, it would limit nothing. */
function assertLimited ({ rateLimit }: HttpSettings, routes: readonly RouteOptions[]): void {
  const known = routes.map(({ schema }) => operationIdOf(schema))
  for (const operationId of Object.keys(rateLimit?.operations ?? {})) {
    const path = `rateLimit.operations.${operationId}`
    assertOption(known.includes(operationId), path, 'the operationId of a route', operationId)
  }
}
