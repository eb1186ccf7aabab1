// Candidates and jobs come from the vendor's own service, and API keys from its own table. The package's storage
// contains webhooks and deliveries.
//
// curl -g 'http://127.0.0.1:3000/api/v1/public/initech/candidates?sort=-full_name' -H 'Authorization: Bearer
// initech-key'

import Fastify from 'fastify'
import { hashApiKey, recruitingApi } from 'fastify-recruiting-api'
import type { KeyLookup } from 'fastify-recruiting-api'
import { candidatesFrom, jobsFrom, memoryStorage } from 'fastify-recruiting-api/memory'

// The vendor's data, with its own field names, dates and keys.
const people = [
  {
    tenant: 'initech',
    id: 1,
    first: 'Zoë',
    last: 'Ødegård',
    title: 'Nurse',
    source: 3,
    recruiter: 7,
    changed: new Date('2026-02-01')
  },
  {
    tenant: 'initech',
    id: 2,
    first: 'Émile',
    last: 'Núñez',
    title: null,
    source: null,
    recruiter: 8,
    changed: new Date('2025-12-24')
  },
  {
    tenant: 'initech',
    id: 3,
    first: 'Ada',
    last: 'Byrne',
    title: 'Lead Nurse',
    source: 5,
    recruiter: 7,
    changed: new Date('2026-03-08')
  },
  {
    tenant: 'hooli',
    id: 4,
    first: 'Émile',
    last: 'Garçon',
    title: null,
    source: null,
    recruiter: null,
    changed: new Date('2026-01-20')
  }
]

const vacancies = [
  { tenant: 'initech', id: 1, title: 'Night Nurse', state: 'published', changed: new Date('2026-01-12') },
  { tenant: 'initech', id: 2, title: 'Day Nurse', state: 'on_hold', changed: new Date('2026-02-02') }
]

const keys = [
  {
    id: 'key_17',
    tenant: 'initech',
    digest: hashApiKey('initech-key'),
    scopes: ['candidates:read', 'jobs:read'],
    revoked: false
  },
  { id: 'key_18', tenant: 'initech', digest: hashApiKey('initech-old-key'), scopes: ['candidates:read'], revoked: true }
]

// These sources filter, sort and page the functions' rows. Only declared fields are sent.
const candidates = candidatesFrom((tenantSlug) =>
  people.filter(({ tenant }) => tenant === tenantSlug).map((person) => ({
    id: person.id,
    full_name: `${person.first} ${person.last}`,
    headline: person.title,
    source_id: person.source,
    recruiter_id: person.recruiter,
    // Lists sort by these. This vendor does not store creation times.
    created_at: person.changed.toISOString(),
    updated_at: person.changed.toISOString()
  })))

const jobs = jobsFrom((tenantSlug) =>
  vacancies.filter(({ tenant }) => tenant === tenantSlug).map((vacancy) => ({
    id: vacancy.id,
    name: vacancy.title,
    status: vacancy.state,
    created_at: vacancy.changed.toISOString(),
    updated_at: vacancy.changed.toISOString()
  })))

// Returns null for every invalid key, including another tenant's.
const keyLookup: KeyLookup = async ({ tenantSlug, key }) => {
  const digest = hashApiKey(key)
  return keys.find((known) => known.digest === digest && known.tenant === tenantSlug && !known.revoked) ?? null
}

const storage = { ...memoryStorage(), candidates, jobs }

const app = Fastify({ logger: true })
await app.register(recruitingApi, { storage, keyLookup })

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
