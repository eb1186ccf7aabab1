import type { CandidateSource, JobSource } from 'fastify-recruiting-api'
import { candidatesFrom, jobsFrom } from 'fastify-recruiting-api/memory'
import type { Person, Vacancy } from './service.js'

/** Candidates and jobs out of the service at this address. Filters, order and pages are done by the helpers. */
export function createSources (origin: string): { candidates: CandidateSource, jobs: JobSource } {
  return {
    candidates: candidatesFrom(async (tenantSlug) => (await load<Person>(origin, '/people', tenantSlug)).map((person) => ({
      id: person.nr,
      full_name: [person.first, person.last].filter((name) => name !== '').join(' '),
      headline: person.title,
      source_id: person.source,
      recruiter_id: person.owner,
      created_at: person.createdAt,
      updated_at: person.changedAt
    }))),

    jobs: jobsFrom(async (tenantSlug) => (await load<Vacancy>(origin, '/vacancies', tenantSlug)).map((vacancy) => ({
      id: vacancy.nr,
      name: vacancy.title,
      status: vacancy.state,
      created_at: vacancy.createdAt,
      updated_at: vacancy.changedAt
    })))
  }
}

async function load<Item> (origin: string, path: string, tenantSlug: string): Promise<Item[]> {
  const response = await fetch(`${origin}${path}?${new URLSearchParams({ tenant: tenantSlug })}`)
  // Answered with 500, and logged: nothing of this reaches a client.
  if (!response.ok) throw new Error(`the service answered ${response.status} to ${path}`)
  return response.json() as Promise<Item[]>
}
