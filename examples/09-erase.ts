// Finds and erases a person's data by the subjects of events: `findSubject` lists who received the events about a
// subject, and `erase` removes their data.
//
// tsx examples/09-erase.ts

import { createRecruiting } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'

const recruiting = createRecruiting({ storage: memoryStorage(), delivery: false, logger: console })

const { id, deliveries } = await recruiting.emit({
  tenantSlug: 'acme',
  type: 'application.created',
  data: { id: 1, candidate_id: 42, full_name: 'Ada Lovelace' },
  occurredAt: new Date(), // default: now
  subjects: ['candidate:42', 'job:7'], // for `erase` and `findSubject`; not sent
  idempotencyKey: 'application-1' // a second emit with this key does nothing
})
console.log(`${id} goes to ${deliveries} webhooks`)

for await (const { eventType, deliveries } of recruiting.findSubject('acme', 'candidate:42')) {
  console.log(eventType, deliveries.map(({ webhookName, attempts }) => [webhookName, attempts]))
}

const events = await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:42' })
console.log(`${events} events erased`)

await recruiting.close()
