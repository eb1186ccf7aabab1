// Erases a person's data: each event names its subject, and `erase` removes the data of all events with that subject.
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
  subject: 'candidate:42', // the subject, for `erase`; not sent
  idempotencyKey: 'application-1' // a second emit with this key does nothing
})
console.log(`${id} goes to ${deliveries} webhooks`)

const erased = await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:42' })
console.log(`${erased} events erased`)

await recruiting.close()
