import type { Tenant, Webhook } from '../ports/index.js'
import { openHeaders } from './secrets.js'
import type { History } from './history.js'
import { type TestDependencies, type TestResult, sendTest } from './sending/send-test.js'
import {
  type DeliveryOperations, createDeliveryOperations, type ReplayInput, type ReplaySummary, replay
} from './operations/deliveries.js'
import { Refusal } from '../errors.js'
import { createEventExamples, type EventExamples } from './events/catalogue.js'
import {
  type EventTypes, type Preview, type PreviewInput, assertKnown, createEventTypes, preview
} from './operations/event-types.js'
import { type Management, type ManagementDependencies, createManagement } from './operations/management.js'

/**
 * All that a tenant can do with webhooks, for input that fits its schema. An operation on a webhook or delivery that
 * does not exist returns `null`. A `Refusal` reports input that no schema can judge, and nothing has changed then.
 */
export interface WebhookOperations extends Management, DeliveryOperations, EventTypes {
  sendTest (tenant: Tenant, id: number, input: { event_type?: string }): Promise<TestResult | null>
  replay (tenant: Pick<Tenant, 'id'>, id: number, input: ReplayInput): Promise<ReplaySummary | null>
  preview (tenant: Pick<Tenant, 'id'>, input: PreviewInput): Promise<Preview>
}

interface Dependencies extends TestDependencies, ManagementDependencies {
  history: History
}

export function createWebhookOperations (dependencies: Dependencies): WebhookOperations {
  const exampleOf = createEventExamples(dependencies.events)
  return {
    ...createManagement(dependencies),
    ...createDeliveryOperations(dependencies),
    ...createEventTypes(dependencies.events, exampleOf),
    sendTest: (tenant, id, input) => testWebhook({ ...dependencies, exampleOf }, tenant, id, input.event_type),
    replay: (tenant, id, input) => replay(dependencies, tenant, id, input),
    preview: (tenant, input) => preview(dependencies, tenant, input)
  }
}

/**
 * Starts over if `target_url` changed while it was reading: otherwise new headers or secrets could go to the previous
 * address.
 */
async function findTarget (
  webhooks: Dependencies['webhooks'],
  tenant: Tenant,
  id: number
): Promise<{ webhook: Webhook; sealed: string[]; headers: string | null } | null> {
  const webhook = await webhooks.find(tenant.id, id)
  const sealed = await webhooks.findSecrets(tenant.id, id)
  const headers = await webhooks.findHeaders(tenant.id, id)
  const now = await webhooks.find(tenant.id, id)
  if (webhook === null || sealed === null || now === null) return null
  return now.target_url === webhook.target_url ? { webhook, sealed, headers } : findTarget(webhooks, tenant, id)
}

async function testWebhook (
  dependencies: Dependencies & { exampleOf: EventExamples }, tenant: Tenant, id: number, eventType: string | undefined
): Promise<TestResult | null> {
  const { webhooks, secrets, events, exampleOf } = dependencies
  if (eventType !== undefined) assertKnown(events, 'event_type', eventType)
  const target = await findTarget(webhooks, tenant, id)
  if (target === null) return null
  const { webhook, sealed, headers } = target
  const [type = ''] = eventType === undefined ? webhook.event_types : [eventType]
  const data = exampleOf(type)
  if (data === null) throw new Refusal('event_type', 'must be an event type with an example that fits its schema')
  return sendTest(dependencies, {
    type,
    data,
    tenant,
    webhookId: id,
    url: webhook.target_url,
    secrets: await Promise.all(sealed.map((text) => secrets.open(text, tenant.id, id))),
    headers: await openHeaders(secrets, headers, { tenantId: tenant.id, webhookId: id, url: webhook.target_url })
  })
}
