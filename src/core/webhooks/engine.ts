import { RecruitingApiError, heldError, heldMessage } from '../shared/errors.js'
import { type CallReport, createAuditor, describeCall } from '../observe/audit.js'
import type { Logger } from '../observe/logger.js'
import { createTracing } from '../observe/tracing.js'
import type { EngineSettings } from './options.js'
import type { Filled, Hold, PublishedFields, TenantDeliveryStats, WebhookStore } from '../ports/index.js'
import {
  assertKnownNames, assertOption, choice, flag, plainText, readInput, readOptions, unread
} from '../shared/read-options.js'
import { shareStorage } from '../shared/connections.js'
import { type TenantReference, createTenants, readTenant } from '../shared/tenants.js'
import { createRecruitingWebhooks } from './by-code.js'
import { createCounters, createListeners, readHealth } from './diagnostics.js'
import { createEventValidator, listHealthEventTypes } from '../api/catalogue.js'
import { assertNames, createChanged, dispatch, eventNames, optionNames } from './events/dispatcher.js'
import { createSubjects, type History, limitHistory } from './history.js'
import { createWebhookOperations, type WebhookOperations } from './operations.js'
import { createAgents } from './queue/agents.js'
import { createNoticeReporter, createPruner } from './queue/housekeeping.js'
import { createWorker } from './queue/worker.js'
import type { ActorCalls, EngineCalls, RecruitingStats } from './recruiting.js'
import { type Runtime, systemRuntime } from './runtime.js'
import { createSecretBox, reportPlainSecrets, resealSecrets } from './secrets.js'
import { createCapacity } from './sending/capacity.js'
import { createOutages } from './sending/outages.js'
import type { FindStop } from './sending/send-test.js'
import { createAddressRule } from './ssrf/addresses.js'
import { createSubscriptionOperations } from './subscriptions.js'
import { createTenantOperations, reportStoredSlugs } from './tenants.js'

export type Engine = ReturnType<typeof createEngine>

/** Creates the engine. Nothing is delivered before `start`. */
export function createEngine (settings: EngineSettings, log: Logger, runtime: Runtime = systemRuntime) {
  const {
    storage, tenantId, tenantSlug, tenantCacheSeconds, events, ids, secretKeys, maxWebhooksPerTenant,
    maxWebhooksPerCreator, maxEventBytes, requireSubject, changesRetentionDays, opentelemetry, onAudit, delivery
  } = settings
  const { webhooks, deliveries, changes, holds, feed } = storage
  const { clock, allowHttp, allowNetworks, denyNetworks, timeoutMs, pollMs, retentionDays, environment } = delivery
  assertOption(environment === null || holds !== undefined, 'delivery.environment', 'a storage with holds', environment)
  assertOption(tenantSlug === null || tenantId !== null, 'tenantSlug', 'none without the option tenantId', tenantSlug)
  assertOption(
    tenantCacheSeconds === 0 || tenantId !== null, 'tenantCacheSeconds', 'none without the option tenantId',
    tenantCacheSeconds
  )
  assertOption(
    !delivery.propagateTrace || opentelemetry !== null, 'delivery.propagateTrace',
    'false without the option opentelemetry', true
  )
  const isAllowedAddress = createAddressRule(allowNetworks, denyNetworks)
  const targetRules = { allowHttp, allowPrivateNames: allowNetworks.length > 0, isAllowedAddress }
  const secrets = createSecretBox(secretKeys, clock)
  const isSealing = 'seal' in secretKeys || secretKeys.length > 0
  const tenants = createTenants({ tenantId, tenantSlug, tenantCacheSeconds, webhooks, clock })
  const changed = createChanged(changes, ids, tenants)
  const sender = runtime.createSender(targetRules, timeoutMs, delivery)
  const listeners = createListeners(log)
  const validate = createEventValidator(events)
  const dispatching = { tenants, deliveries, validate, clock, maxEventBytes, requireSubject }
  const capacity = createCapacity(delivery, runtime.clock)
  const counters = createCounters()
  const outages = createOutages(listeners, log, clock)
  const auditor = onAudit && createAuditor(onAudit, log, delivery)
  const tracing = opentelemetry === null ? null : createTracing(opentelemetry, log)
  const eventTypes = listHealthEventTypes(events)
  const warnAfterSeconds = delivery.disableAfter.failingForSeconds / 2
  const healthRule = { ...delivery.disableAfter, warnAfterSeconds, eventTypes }
  const notices = createNoticeReporter(deliveries, listeners, { environment, eventTypes, clock, log })
  const { subscriptions } = storage
  const parts = { sender, capacity, outages, secrets, targetRules, clock, runtime, log, findHold, findStop }
  const agents = subscriptions === undefined || feed === undefined
    ? null
    : createAgents({ subscriptions, feed }, { ...parts, pollMs, environment, onEnd: reportEnd })
  const worker = delivery.worker
    ? createWorker(
      { ...parts, deliveries, counters, tracing, agents, onFailures: notices.report }, { ...delivery, healthRule }
    )
    : null
  const pruner = createPruner(storage, { retentionDays, changesRetentionDays }, { clock, runtime, log })
  let isStarted = false
  let reports: Promise<unknown> | null = null
  let stopping: Promise<void> | null = null
  let closing: Promise<void> | null = null

  async function findStop (tenantId: string): ReturnType<FindStop> {
    if (await findHold() !== null) return 'held'
    // Another process can have suspended or resumed it.
    await tenants.refresh()
    return tenants.isSuspended(tenantId) ? 'suspended' : null
  }

  async function findHold (): Promise<Hold | null> {
    return await holds?.find(environment) ?? null
  }

  function assertOpen (): void {
    if (closing !== null) throw new RecruitingApiError('closed', 'the engine is closed')
  }

  // Otherwise `drain` would wait forever for deliveries that this process no longer attempts.
  function assertDelivering (): void {
    assertOpen()
    if (stopping !== null) throw new RecruitingApiError('closed', 'the engine has stopped delivering')
  }

  /** Stops delivering. Afterwards nothing uses the storage in the background. Can be called repeatedly. */
  function stop (): Promise<void> {
    stopping ??= stopDelivering()
    return stopping
  }

  async function stopDelivering (): Promise<void> {
    await Promise.all([
      worker?.close(), agents?.stop(delivery.closeGraceMs), pruner.stop(delivery.closeGraceMs), reports
    ])
    await notices.stop()
  }

  async function close (): Promise<void> {
    await stop()
    capacity.abort()
    sender.abort()
    await sender.close()
    await auditor?.settle()
  }

  const history = limitHistory(deliveries, feed, runtime.historyPlaces.code)

  function createOperations (webhooks: WebhookStore, history: History): WebhookOperations {
    return createWebhookOperations({
      ...parts, webhooks, history, events, maxWebhooksPerTenant, maxWebhooksPerCreator, timeoutMs
    })
  }

  const shared = shareStorage(storage)
  const agentOperations = agents === null || shared.subscriptions === undefined || shared.feed === undefined
    ? null
    : createSubscriptionOperations({
      ...parts, subscriptions: shared.subscriptions, feed: shared.feed, webhooks, agents
    })
  const requestHistory = limitHistory(shared.deliveries, shared.feed, runtime.historyPlaces.requests)
  const operations = createOperations(shared.webhooks, requestHistory)
  const createWebhookCalls = createRecruitingWebhooks(
    createOperations(webhooks, history), agentOperations, tenants, assertOpen
  )

  function reportEnd ({ tenantId, tenantSlug, subscription, reason: endReason }: Filled['ended'][number]): void {
    const resource = { kind: 'subscription', id: subscription.id, endReason }
    auditor?.report(describeCall('service', null, { operationId: 'endSubscription', tenantSlug, tenantId, resource }))
  }

  function reportFor (actor: string | null): CallReport {
    return (call) => auditor?.report(describeCall('code', actor, call))
  }

  function callsOf (actor: string | null): ActorCalls {
    const report = reportFor(actor)
    return {
      ...createSubjects({ assertOpen, deliveries: history, tenants }, report),
      ...createTenantOperations({ assertOpen, webhooks, tenants, secrets }, report),
      async adopt (options) {
        assertOpen()
        const { pending, keepWebhooks, keepKeys } = readOptions(options, {
          pending: choice(['deliver', 'discard']), keepWebhooks: flag(false), keepKeys: flag(false)
        })
        for (const [name, isKept] of Object.entries({ keepWebhooks, keepKeys })) {
          assertOption(!isKept || pending === 'discard', name, "false unless pending is 'discard'", isKept)
        }
        const adopted = await holds?.adopt({ environment, pending, keepWebhooks, keepKeys }) ?? null
        report({ operationId: 'adopt' })
        return adopted
      },
      async prune () {
        assertDelivering()
        const rowCount = await pruner.prune()
        report({ operationId: 'prune', rowCount })
        return rowCount
      },
      async resealSecrets () {
        assertOpen()
        const rowCount = await resealSecrets(webhooks, secrets)
        report({ operationId: 'resealSecrets', rowCount })
        return rowCount
      },
      ...createWebhookCalls(report, actor)
    }
  }

  function stats (): Promise<RecruitingStats>
  function stats (of: TenantReference): Promise<TenantDeliveryStats>
  async function stats (of?: TenantReference): Promise<RecruitingStats | TenantDeliveryStats> {
    assertOpen()
    if (of !== undefined) {
      const tenant = readTenant(readInput(of, { tenantSlug: unread, tenantId: unread }))
      return deliveries.tenantStats(await tenants.getId(tenant))
    }
    const [queue, changeStats, missed = [], feedStats = null, agentStats = null, held] = await Promise.all([
      deliveries.stats(), changes?.stats(), changes?.missed?.(), feed?.stats(), subscriptions?.stats(), findHold()
    ])
    const inFlight = worker?.inFlight ?? 0
    const inFlightLimit = worker === null ? 0 : delivery.concurrency
    return {
      ...queue,
      ...counters.read(),
      inFlight,
      inFlightLimit,
      changes: changeStats === undefined ? null : { ...changeStats, missed },
      feed: feedStats,
      subscriptions: agentStats,
      held
    }
  }

  const recruiting: EngineCalls = {
    async emit (event, options = {}) {
      assertOpen()
      assertNames('event', event, eventNames)
      assertNames('options', options, optionNames)
      if (tracing === null) return dispatch(dispatching, event, options, null)
      return tracing.emit(event, (traceParent) => dispatch(dispatching, event, options, traceParent))
    },
    async drain (options = {}) {
      assertDelivering()
      if (worker !== null && !isStarted) {
        throw new RecruitingApiError(
          'not_started', 'the server is not ready: await app.ready() or app.listen() before drain'
        )
      }
      assertKnownNames(options, { until: 0 })
      const { until = 0 } = options
      const untilMs = Number(until)
      assertOption(
        !Number.isNaN(new Date(untilMs).getTime()), 'until', 'a Date or milliseconds since the epoch', until
      )
      const hasPending = (): Promise<boolean> => deliveries.hasPending(Math.max(0, untilMs - clock.now()))
      for (;;) {
        // Taken before the query, because a turn that ends during it would be missed until the next poll.
        const turn = worker?.nextTurn()
        if (worker === null || worker.inFlight === 0) {
          if (worker !== null) await agents?.fill()
          if (!await hasPending()) return
          const hold = await findHold()
          // Held deliveries would wait forever.
          if (hold !== null) throw heldError(hold.reason)
        }
        await (turn ?? new Promise<void>((resolve) => { runtime.clock.setTimeout(resolve, pollMs) }))
        assertDelivering()
      }
    },
    async changed (change, options) {
      assertOpen()
      return changed(change, options)
    },
    stats,
    ...callsOf(null),
    as: (actor) => callsOf(readInput({ actor }, { actor: plainText(128) }).actor),
    on: listeners.on,
    off: listeners.off
  }

  return {
    recruiting,
    tenants,
    operations,
    /** `null` if the storage has no subscriptions. */
    subscriptions: agentOperations,
    /** `null` without the option `opentelemetry`. */
    tracing,
    /** Seals for the storage; `null` without the option `secretKeys`. */
    secrets: isSealing ? secrets : null,
    /** Receives the audit entries; `null` without the option `onAudit`. */
    auditor,
    report: reportFor(null),
    /** Never rejects, and can be called after `close`. */
    health: () => readHealth({ deliveries, worker, findHold, clock, pollMs }, stopping !== null),
    start (): void {
      isStarted = true
      if (stopping !== null || closing !== null) return
      reports = Promise.all([
        reportStoredSlugs(webhooks, tenants, log),
        worker === null || isSealing ? null : reportPlainSecrets(webhooks, log)
      ]).catch((err: unknown) => log.error({ err }, 'a check at startup failed'))
      if (worker === null) return
      // If it fails, each attempt tries again.
      sender.load().catch(() => {})
      worker.start()
      agents?.start()
      notices.start()
      pruner.start()
    },
    stop,
    /** Stops delivering and closes all connections. Can be called repeatedly. */
    close (): Promise<void> {
      closing ??= close()
      return closing
    }
  }
}

/** Verifies the storage and logs its warnings. Rejects if it cannot be used. */
export async function verifyStorage (
  { storage, delivery }: EngineSettings, published: PublishedFields | null, log: Logger
): Promise<void> {
  for (const warning of (await storage.verify?.(published)) ?? []) log.warn({}, warning)
  // Workers log a hold themselves.
  const hold = delivery.worker ? null : ((await storage.holds?.find(delivery.environment)) ?? null)
  if (hold !== null) log.error({ err: heldError(hold.reason) }, heldMessage)
}
