import type { Static } from '@sinclair/typebox'
import type { Clock, Tenant } from '../../ports/index.js'
import { generateEventId } from '../../shared/event-id.js'
import { testSequence } from '../events/dispatcher.js'
import type { Runtime } from '../runtime.js'
import type { TestResult as TestResultSchema } from '../../api/webhooks.js'
import type { Capacity } from './capacity.js'
import type { Outages } from './outages.js'
import type { SendResult, Sender } from './sender.js'
import type { OpenedHeaders } from '../secrets.js'
import { signHeaders, signLegacy } from './signature.js'

/** Returns why nothing is sent to a tenant now; `null` if it is sent. */
export type FindStop = (tenantId: string) => Promise<'suspended' | 'held' | null>

export interface TestParts {
  sender: Sender
  outages: Outages
  capacity: Capacity
  clock: Clock
  runtime: Runtime
  findStop: FindStop
  timeoutMs: number
}

interface TestTarget {
  type: string
  data: object
  tenant: Tenant
  webhookId: number
  url: string
  /** Unsealed. */
  secrets: readonly string[]
  headers: OpenedHeaders
}

/** Its duration is the attempt's alone, or the wait's if no place became free. */
export type TestResult = Static<typeof TestResultSchema>

const maxTestMs = 10_000

/**
 * Waits for a place, then makes one attempt, both within 10 s or the deadline of attempts, whichever is shorter. Sends
 * nothing if the storage is held or the tenant suspended. Rejects with `busy` if too many of the tenant's tests wait.
 */
export async function sendTest (parts: TestParts, target: TestTarget): Promise<TestResult> {
  const { capacity, timeoutMs, clock, runtime, findStop } = parts
  const { tenant: { id: tenantId }, webhookId } = target
  const id = generateEventId(clock.now())
  const stop = await findStop(tenantId)
  if (stop !== null) return toTestResult(id, target, { responseStatus: null, error: stop, durationMs: 0 })
  const deadlineMs = Math.min(timeoutMs, maxTestMs)
  const startedAt = runtime.clock.monotonic()
  const isAcquired = await capacity.acquireTest(tenantId, webhookId, deadlineMs)
  const waitedMs = runtime.clock.monotonic() - startedAt
  if (!isAcquired) {
    return toTestResult(id, target, { responseStatus: null, error: 'timeout', durationMs: Math.round(waitedMs) })
  }
  return postTest(parts, target, id, Math.max(1, Math.ceil(deadlineMs - waitedMs))).finally(() =>
    capacity.releaseTest(tenantId, webhookId)
  )
}

export async function postTest (
  { sender, clock, outages }: { sender: Sender; clock: Pick<Clock, 'now'>; outages?: Outages },
  target: Omit<TestTarget, 'webhookId'>, id: string, timeoutMs: number
): Promise<TestResult> {
  const { type, data, tenant, url, secrets, headers } = target
  const nowMs = clock.now()
  const timestamp = new Date(nowMs).toISOString()
  const body = JSON.stringify({
    id, type, timestamp, sequence: testSequence, tenant_slug: tenant.slug, data, test: true
  })
  const sent = await sender.send({
    tenantId: tenant.id,
    url,
    headers: {
      ...headers.own, ...signLegacy(headers.legacy, id, body, nowMs), ...signHeaders(secrets, id, body, nowMs)
    },
    body,
    timeoutMs
  })
  outages?.add(sent)
  return toTestResult(id, target, sent.ownFault === undefined ? sent : { ...sent, error: 'unavailable' })
}

function toTestResult (
  id: string, { type }: Pick<TestTarget, 'type'>,
  { responseStatus, error, detail, durationMs }:
    Omit<SendResult, 'error'> & { error: SendResult['error'] | 'held' | 'suspended' | 'unavailable' }
): TestResult {
  return {
    id,
    event_type: type,
    status: error === null ? 'delivered' : 'failed',
    response_status: responseStatus,
    duration_ms: durationMs,
    error: error === 'aborted' ? 'connection' : error,
    detail: detail ?? null
  }
}
