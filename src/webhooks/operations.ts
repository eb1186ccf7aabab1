import type { DeliveryStore } from '../ports/index.js'
import { type TestDependencies, type TestResult, sendTest } from './sending/send-test.js'
import { type DeliveryOperations, createDeliveryOperations } from './operations/deliveries.js'
import { type EventTypes, assertKnown, createEventTypes } from './operations/event-types.js'
import { type Management, type ManagementDependencies, createManagement } from './operations/management.js'
import { type ReplayInput, type ReplaySummary, replay } from './operations/replay.js'

/**
 * All that a tenant can do with webhooks, for input that fits its schema. An operation on a webhook or delivery that does
 * not exist returns `null`. A `Refusal` reports input that no schema can judge, and nothing has changed then.
 */
export interface WebhookOperations extends Management, DeliveryOperations, EventTypes {
  sendTest (tenantSlug: string, id: number, input: { event_type?: string }): Promise<TestResult | null>
  replay (tenantSlug: string, id: number, input: ReplayInput): Promise<ReplaySummary | null>
}

interface Dependencies extends TestDependencies, ManagementDependencies {
  deliveries: DeliveryStore
}

export function createWebhookOperations (dependencies: Dependencies): WebhookOperations {
  return {
    ...createManagement(dependencies),
    ...createDeliveryOperations(dependencies),
    ...createEventTypes(dependencies.events),
    sendTest: (tenantSlug, id, input) => testWebhook(dependencies, tenantSlug, id, input.event_type),
    replay: (tenantSlug, id, input) => replay(dependencies, tenantSlug, id, input)
  }
}

async function testWebhook (dependencies: Dependencies, tenantSlug: string, id: number, eventType: string | undefined): Promise<TestResult | null> {
  const { webhooks, secrets, events } = dependencies
  if (eventType !== undefined) assertKnown(events, 'event_type', eventType)
  const webhook = await webhooks.find(tenantSlug, id)
  const sealed = await webhooks.findSecrets(tenantSlug, id)
  if (webhook === null || sealed === null) return null
  const [type = ''] = eventType === undefined ? webhook.event_types : [eventType]
  return sendTest(dependencies, {
    type,
    tenantSlug,
    webhookId: id,
    url: webhook.target_url,
    secrets: sealed.map((text) => secrets.open(text, tenantSlug, id))
  })
}
