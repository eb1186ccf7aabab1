import { setTimeout as sleep } from 'node:timers/promises'
import { RecruitingApiError } from '../errors.js'
import { expect, expectNames } from '../shared/expect.js'
import type { EventStorage, PublishedFields } from '../ports/index.js'
import type { EngineSettings } from './settings.js'
import { type Tracing, createTracing } from '../observe/tracing.js'
import { createChanged } from './changes.js'
import { createRecruitingWebhooks } from './by-code/webhooks.js'
import { createAddressRule } from './guard/addresses.js'
import { assertNames, assertTenantSlug, assertText, eventNames, optionNames, subjectNames } from './events/arguments.js'
import { createCounters } from './queue/counters.js'
import { dispatch } from './events/dispatcher.js'
import { createEventValidator } from './events/catalogue.js'
import { createNoticeReporter } from './queue/notices.js'
import { keepPruning, prune } from './queue/housekeeping.js'
import { createListeners } from './listeners.js'
import type { Logger } from '../observe/logger.js'
import { type WebhookOperations, createWebhookOperations } from './operations.js'
import { createCapacity } from './sending/capacity.js'
import type { EngineCalls } from './recruiting.js'
import { resealSecrets } from './secrets/reseal.js'
import { createSecretBox } from './secrets/secret-box.js'
import { createSender } from './sending/sender.js'
import { createWorker } from './queue/worker.js'
import { createTenantOperations } from './tenants.js'

/** The engine, including its internal parts. */
export interface Engine {
  recruiting: EngineCalls
  operations: WebhookOperations
  tracing: Tracing | null
  start (): void
  /** Stops delivering. Afterwards nothing uses the storage in the background. May be called repeatedly. */
  stop (): Promise<void>
  /** Stops delivering and closes all connections. May be called repeatedly. */
  close (): Promise<void>
}

/** Creates the engine. Nothing is delivered before `start`. */
export function createEngine (settings: EngineSettings, log: Logger): Engine {
  const { storage, events, ids, secretKeys, maxWebhooksPerTenant, maxEventBytes, changesRetentionDays, opentelemetry, delivery } = settings
  const { webhooks, deliveries, changes } = storage
  const { clock, allowHttp, allowNetworks, denyNetworks, timeoutMs, pollMs, retentionDays } = delivery
  const isAllowedAddress = createAddressRule(allowNetworks, denyNetworks)
  const targetRules = { allowHttp, allowPrivateNames: allowNetworks.length > 0, isAllowedAddress }
  const secrets = createSecretBox(secretKeys)
  const changed = createChanged(changes, ids)
  const retention = { retentionDays, changesRetentionDays }
  const tenants = createTenantOperations(webhooks, secrets)
  const sender = createSender(targetRules, timeoutMs, delivery)
  const listeners = createListeners(log)
  const dispatching = { deliveries, validate: createEventValidator(events), clock, maxEventBytes }
  const capacity = createCapacity(delivery)
  const counters = createCounters()
  const tracing = opentelemetry === null ? null : createTracing(opentelemetry, log)
  const healthRule = { ...delivery.disableAfter, warnAfterSeconds: delivery.disableAfter.failingForSeconds / 2 }
  const notices = createNoticeReporter(deliveries, listeners, { clock, log })
  const worker = delivery.worker
    ? createWorker({ deliveries, sender, capacity, secrets, clock, log, counters, tracing, onFailures: notices.report }, { ...delivery, healthRule })
    : null
  let stopPruning: () => void = () => {}
  let stopping: Promise<void> | null = null
  let closing: Promise<void> | null = null

  function assertOpen (): void {
    if (closing !== null) throw new RecruitingApiError('closed', 'the engine is closed')
  }

  // Otherwise `drain` would wait forever for deliveries that this process no longer makes.
  function assertDelivering (): void {
    assertOpen()
    if (stopping !== null) throw new RecruitingApiError('closed', 'the engine has stopped delivering')
  }

  function isBusy (): boolean {
    return worker !== null && worker.inFlight > 0
  }

  function stop (): Promise<void> {
    stopPruning()
    stopping ??= stopDelivering()
    return stopping
  }

  async function stopDelivering (): Promise<void> {
    await worker?.close()
    await notices.stop()
  }

  async function close (): Promise<void> {
    await stop()
    capacity.abort()
    sender.abort()
    await sender.close()
  }

  const operations = createWebhookOperations({
    webhooks, deliveries, events, targetRules, secrets, sender, capacity, clock, maxWebhooksPerTenant, timeoutMs
  })

  return {
    tracing,
    recruiting: {
      async emit (event, options = {}) {
        assertOpen()
        assertNames('event', event, eventNames)
        assertNames('options', options, optionNames)
        if (tracing === null) return dispatch(dispatching, event, options)
        return tracing.emit(event, () => dispatch(dispatching, event, options))
      },
      async drain (options = {}) {
        assertDelivering()
        expectNames(options, { until: 0 })
        const { until = 0 } = options
        const untilMs = Number(until)
        expect(!Number.isNaN(new Date(untilMs).getTime()), 'until', 'a Date or milliseconds since the epoch', until)
        const hasPending = (): Promise<boolean> => deliveries.hasPending(Math.max(0, untilMs - clock.now()))
        for (;;) {
          // Taken before the query, because a turn that ends during it would be missed until the next poll.
          const turn = worker?.nextTurn()
          if (!isBusy() && !await hasPending()) return
          await (turn ?? sleep(pollMs))
          assertDelivering()
        }
      },
      async changed (change, options) {
        assertOpen()
        return changed(change, options)
      },
      async prune () {
        assertOpen()
        return prune(storage, retention)
      },
      async erase (erased, options = {}) {
        assertOpen()
        assertNames('subject', erased, subjectNames)
        assertNames('options', options, optionNames)
        assertTenantSlug(erased.tenantSlug)
        assertText('subject', erased.subject)
        return deliveries.erase(erased.tenantSlug, erased.subject, options.transaction)
      },
      async renameTenant (from, to, options) {
        assertOpen()
        return tenants.renameTenant(from, to, options)
      },
      async removeTenant (tenantSlug, options) {
        assertOpen()
        return tenants.removeTenant(tenantSlug, options)
      },
      async stats () {
        assertOpen()
        const [queue, changeStats = null] = await Promise.all([deliveries.stats(), changes?.stats()])
        return { ...queue, ...counters.read(), inFlight: worker?.inFlight ?? 0, changes: changeStats }
      },
      async resealSecrets () {
        assertOpen()
        return resealSecrets(webhooks, secrets)
      },
      webhooks: createRecruitingWebhooks(operations, assertOpen),
      on: listeners.on,
      off: listeners.off
    },
    operations,
    start () {
      if (worker === null || stopping !== null || closing !== null) return
      worker.start()
      notices.start()
      stopPruning = keepPruning(storage, retention, { clock, log })
    },
    stop,
    close () {
      closing ??= close()
      return closing
    }
  }
}

/** Verifies the storage and logs its warnings. Rejects if it cannot be used. */
export async function verifyStorage (storage: EventStorage, published: PublishedFields | null, log: Logger): Promise<void> {
  for (const warning of await storage.verify?.(published) ?? []) log.warn({}, warning)
}
