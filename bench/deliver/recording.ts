import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { type EventCatalogue, type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { type Work, createEventData, eventType } from './work.js'

const tenants = 5
const emitsAtOnce = 16

/** Returns the catalogue for all endpoints. */
export function createEvents ({ ports }: Work): EventCatalogue {
  return Object.fromEntries(ports.map((_, endpoint) => [eventType(endpoint), Type.Object({})]))
}

/** Creates a webhook for each endpoint, distributed over the tenants. */
export async function createWebhooks ({ webhooks }: RecruitingStorage, ports: readonly number[]): Promise<void> {
  for (const [endpoint, port] of ports.entries()) {
    const tenantSlug = tenantOf(endpoint)
    await webhooks.create(tenantSlug, {
      tenantSlug,
      id: await webhooks.nextId(tenantSlug),
      name: `Endpoint ${endpoint}`,
      target_url: `http://127.0.0.1:${port}/hooks`,
      event_types: [eventType(endpoint)],
      status: 'active',
      secret: `whsec_${randomBytes(32).toString('base64')}`
    }, { maxPerTenant: ports.length })
  }
}

export async function record (storage: RecruitingStorage, events: EventCatalogue, work: Work): Promise<void> {
  const emitter = createRecruiting({ storage, events, delivery: false })
  const ids = Array.from({ length: work.events }, (_, id) => id).values()
  await Promise.all(Array.from({ length: emitsAtOnce }, async () => {
    for (const id of ids) {
      const endpoint = id % work.ports.length
      await emitter.emit({ tenantSlug: tenantOf(endpoint), type: eventType(endpoint), data: createEventData(id) })
    }
  }))
  await emitter.close()
}

function tenantOf (endpoint: number): string {
  return `tenant_${endpoint % tenants}`
}
