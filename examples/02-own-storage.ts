// Candidates and jobs come from the vendor's own service and API keys from its own table. The storage of the package
// keeps webhooks and deliveries.
//
// curl -g 'http://127.0.0.1:3000/api/v1/public/initech/candidates?sort=-full_name' -H 'Authorization: Bearer
// initech-key'

import Fastify from 'fastify'
import { hashApiKey, recruitingApi } from 'fastify-recruiting-api'
import type {
  CandidateFilter,
  CandidateSource,
  JobFilter,
  JobSource,
  KeyLookup,
  ListQuery
} from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'

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

// A source has three methods. Rows may have further fields: only declared ones are sent.
const candidates: CandidateSource = {
  async list (tenantSlug, query) {
    return takePage(findPeople(tenantSlug, query.filter).map(toCandidate), query)
  },
  async count (tenantSlug, filter) {
    return findPeople(tenantSlug, filter).length
  },
  async find (tenantSlug, id) {
    const person = people.find((known) => known.tenant === tenantSlug && known.id === id)
    return person === undefined ? null : toCandidate(person)
  }
}

const jobs: JobSource = {
  async list (tenantSlug, query) {
    return takePage(findVacancies(tenantSlug, query.filter).map(toJob), query)
  },
  async count (tenantSlug, filter) {
    return findVacancies(tenantSlug, filter).length
  },
  async find (tenantSlug, id) {
    const vacancy = vacancies.find((known) => known.tenant === tenantSlug && known.id === id)
    return vacancy === undefined ? null : toJob(vacancy)
  }
}

function toCandidate (person: typeof people[number]) {
  return {
    id: person.id,
    full_name: fullName(person),
    headline: person.title,
    source_id: person.source,
    // Lists sort by these. This vendor does not store when it created a row.
    created_at: person.changed.toISOString(),
    updated_at: person.changed.toISOString()
  }
}

function toJob (vacancy: typeof vacancies[number]) {
  return {
    id: vacancy.id,
    name: vacancy.title,
    status: vacancy.state,
    created_at: vacancy.changed.toISOString(),
    updated_at: vacancy.changed.toISOString()
  }
}

// All conditions of a filter must hold.
function findPeople (tenantSlug: string, { q, recruiterId, updatedAfter }: CandidateFilter) {
  return people.filter((person) =>
    person.tenant === tenantSlug &&
    (recruiterId === undefined || person.recruiter === recruiterId) &&
    (q === undefined || foldCase(fullName(person)).includes(foldCase(q))) &&
    (updatedAfter === undefined || person.changed > new Date(updatedAfter)))
}

function findVacancies (tenantSlug: string, { q, status, updatedAfter }: JobFilter) {
  return vacancies.filter((vacancy) =>
    vacancy.tenant === tenantSlug &&
    (status === undefined || vacancy.state === status) &&
    (q === undefined || foldCase(vacancy.title).includes(foldCase(q))) &&
    (updatedAfter === undefined || vacancy.changed > new Date(updatedAfter)))
}

// Ignores case. Lower case has two forms of Σ.
function foldCase (text: string) {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

function fullName ({ first, last }: { first: string, last: string }): string {
  return `${first} ${last}`
}

// In a database this is `order by … limit … offset …`.
function takePage<Row, Field extends keyof Row & string> (
  rows: Row[],
  { sort, offset, limit }: ListQuery<unknown, Field>
): Row[] {
  const sorted = rows.toSorted((a, b) => {
    for (const { field, direction } of sort) {
      const order = compare(a[field], b[field])
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return 0
  })
  return sorted.slice(offset, offset + limit)
}

// Text sorts by code point. UTF-8 bytes sort that way, JavaScript's UTF-16 units do not.
function compare (a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

// Returns null for every refused key, also for a key of another tenant.
const keyLookup: KeyLookup = async ({ tenantSlug, key }) => {
  const digest = hashApiKey(key)
  return keys.find((known) => known.digest === digest && known.tenant === tenantSlug && !known.revoked) ?? null
}

const storage = { ...memoryStorage(), candidates, jobs }

const app = Fastify({ logger: true })
await app.register(recruitingApi, { storage, keyLookup })

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
