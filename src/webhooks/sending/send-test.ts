import type { Clock } from '../../ports/index.js'
import { generateEventId } from '../events/event-id.js'
import { type Capacity, formatWebhookKey } from './capacity.js'
import type { SendResult, Sender } from './sender.js'
import { signHeaders } from './signature.js'

export interface TestDependencies {
  sender: Sender
  capacity: Capacity
  clock: Clock
  /** The deadline of attempts. */
  timeoutMs: number
}

/** The event of a test and its target. */
export interface TestTarget {
  type: string
  tenantSlug: string
  webhookId: number
  url: string
  /** Unsealed. */
  secrets: readonly string[]
}

/** The result of a test notification, with the field names of the API. */
export interface TestResult {
  id: string
  event_type: string
  status: 'delivered' | 'failed'
  response_status: number | null
  /** Of the attempt alone; of the wait if no slot became free. */
  duration_ms: number
  error: string | null
}

const maxTestMs = 10_000

/**
 * Waits for a slot, then makes one attempt: 10 s for both together, or the deadline of attempts if that is shorter.
 */
export async function sendTest (dependencies: TestDependencies, target: TestTarget): Promise<TestResult> {
  const { capacity, timeoutMs } = dependencies
  const webhook = formatWebhookKey(target.tenantSlug, target.webhookId)
  const id = generateEventId()
  const deadlineMs = Math.min(timeoutMs, maxTestMs)
  const startedAt = performance.now()
  const isAcquired = await capacity.acquireTest(webhook, deadlineMs)
  const waitedMs = performance.now() - startedAt
  if (!isAcquired) return toTestResult(id, target, { responseStatus: null, error: 'timeout', durationMs: Math.round(waitedMs) })
  const sent = await post(dependencies, target, id, Math.max(1, Math.ceil(deadlineMs - waitedMs))).finally(() => capacity.releaseTest(webhook))
  return toTestResult(id, target, sent)
}

async function post ({ sender, clock }: TestDependencies, target: TestTarget, id: string, timeoutMs: number): Promise<SendResult> {
  const { type, tenantSlug, url, secrets } = target
  const timestamp = new Date(clock.now()).toISOString()
  const body = JSON.stringify({ id, type, timestamp, tenant_slug: tenantSlug, data: {}, test: true })
  return sender.send({ url, headers: signHeaders(secrets, id, body, clock.now()), body, timeoutMs })
}

function toTestResult (id: string, { type }: TestTarget, { responseStatus, error, durationMs }: SendResult): TestResult {
  return {
    id,
    event_type: type,
    status: error === null ? 'delivered' : 'failed',
    response_status: responseStatus,
    duration_ms: durationMs,
    error: error === 'aborted' ? 'connection' : error
  }
}
