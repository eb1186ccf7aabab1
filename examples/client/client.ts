// A client of the API with typed requests and responses. Its types are generated from the document that the API serves.
// In the folder of this file, in a project of ES modules:
//
// npm install openapi-fetch
// npx openapi-typescript http://127.0.0.1:3000/api/v1/public/openapi.json -o api.d.ts
// ORIGIN=http://127.0.0.1:3000 TENANT=acme KEY=acme-secret-key npx tsx client.ts

import createClient from 'openapi-fetch'
import type { components, operations, paths } from './api.js'

const { ORIGIN = 'http://127.0.0.1:3000', TENANT: tenantSlug = 'acme', KEY: key = 'acme-secret-key' } = process.env

const client = createClient<paths>({ baseUrl: ORIGIN, headers: { authorization: `Bearer ${key}` } })
const path = { tenant_slug: tenantSlug }

const candidates = await client.GET('/api/v1/public/{tenant_slug}/candidates', {
  params: { path, query: { sort: '-updated_at', 'filter[q]': 'ana', per_page: 10 } }
})
if (candidates.error !== undefined) {
  console.error(`${candidates.error.error.message} (${candidates.error.error.request_id})`)
  process.exit(1)
}
for (const { id, full_name: name, headline } of candidates.data.data) console.log(id, name, headline ?? '')
console.log(`${candidates.data.meta.total} found`)

// With `satisfies`, the compiler rejects unknown fields. openapi-fetch alone does not detect them.
const webhook = {
  name: 'CRM',
  target_url: 'https://hooks.example.com/recruiting',
  event_types: ['application.created']
} satisfies components['schemas']['CreateWebhook']
const created = await client.POST('/api/v1/public/{tenant_slug}/webhooks', { params: { path }, body: webhook })
console.log(created.data === undefined ? created.error.error.code : `webhook ${created.data.data.id} has a secret`)

type SyncedCandidate = NonNullable<
  operations['syncCandidates']['responses'][200]['content']['application/json']['data'][number]['candidate']
>

/** Updates a copy, from the beginning or from a token. Returns the token to store with the copy. */
async function syncCandidates (copy: Map<number, SyncedCandidate>, token?: string): Promise<string> {
  const query = token === undefined ? {} : { token }
  const { data: page, error } = await client.GET('/api/v1/public/{tenant_slug}/candidates/sync', {
    params: { path, query }
  })
  if (error?.error.code === 'sync_token_expired') {
    copy.clear()
    return syncCandidates(copy)
  }
  if (page === undefined) throw new Error(error.error.message)
  for (const { id, candidate } of page.data) {
    if (candidate === null) copy.delete(id)
    else copy.set(id, candidate)
  }
  return page.meta.has_more ? syncCandidates(copy, page.meta.next_token) : page.meta.next_token
}

const copy = new Map<number, SyncedCandidate>()
const token = await syncCandidates(copy)
await syncCandidates(copy, token)
console.log(`copied ${[...copy.values()].map((candidate) => candidate.full_name).join(' and ')}`)

const webhookPath = { ...path, id: 1 }

// Fields with a default and bodies without required fields are optional.
export const short = [
  () => client.POST('/api/v1/public/{tenant_slug}/webhooks/{id}/rotate_secret', { params: { path: webhookPath } }),
  () =>
    client.POST('/api/v1/public/{tenant_slug}/webhooks/{id}/rotate_secret', {
      params: { path: webhookPath },
      body: {}
    }),
  () =>
    client.POST('/api/v1/public/{tenant_slug}/webhooks/{id}/replay', {
      params: { path: webhookPath },
      body: { event_types: ['job.closed'] }
    })
]

// The compiler checks the contract: each of these is an error.
export const mistakes = [
  () =>
    client.GET('/api/v1/public/{tenant_slug}/candidates', {
      // @ts-expect-error there is no such filter
      params: { path, query: { 'filter[eye_colour]': 'blue' } }
    }),
  // @ts-expect-error the tenant is missing
  () => client.GET('/api/v1/public/{tenant_slug}/jobs', {}),
  // @ts-expect-error a sync has no pages by number
  () => client.GET('/api/v1/public/{tenant_slug}/candidates/sync', { params: { path, query: { page: 2 } } }),
  // @ts-expect-error there is no field `colour`
  () => ({ ...webhook, colour: 'blue' }) satisfies components['schemas']['CreateWebhook'],
  // @ts-expect-error the fields of a webhook are missing
  () => client.POST('/api/v1/public/{tenant_slug}/webhooks', { params: { path }, body: { colour: 'blue' } })
]
