// Manages a tenant's webhooks from code, like the vendor's settings page or support tool.
//
// tsx examples/15-webhooks-by-code.ts

import { createRecruiting, isRecruitingApiError } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'

const recruiting = createRecruiting({
  storage: memoryStorage(),
  delivery: false,
  logger: console,
  onAudit: ({ actor, operationId, resource }) => console.log(`audit: ${actor} ${operationId} ${resource?.kind}`)
})

const { id, secret } = await recruiting.webhooks.create('acme', {
  name: 'CRM sync',
  target_url: 'https://hooks.example.com/recruiting',
  headers: { 'X-Api-Key': 'key-of-their-gateway' }, // sent with each notification, never shown again
  event_types: ['application.created']
})
console.log(`webhook ${id} has a secret of ${secret.length} characters`)

await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
const { data, meta } = await recruiting.webhooks.listDeliveries('acme', id, {
  'filter[status]': 'pending',
  per_page: 50
})
console.log(`${meta.total} delivery waits: ${data[0]?.event_type}`)

// The audit log contains your engineer's id.
await recruiting.as('support:ann').webhooks.update('acme', id, { name: 'CRM' })

try {
  await recruiting.webhooks.update('acme', id, { target_url: 'https://localhost/' })
} catch (error) {
  if (!isRecruitingApiError(error)) throw error
  console.log(`rejected with ${error.code}, field ${error.field}`)
}

await recruiting.close()
