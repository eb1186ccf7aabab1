import type { CandidateSource, JobSource } from 'fastify-recruiting-api'
import { candidatesFrom, jobsFrom } from 'fastify-recruiting-api/memory'
import type { Person, Vacancy } from './service.js'

/** Pass these also to the plugin: `app.register(recruitingApi, { ids, … })`. */
export const ids = { candidate: 'string' } as const

/** Creates sources of candidates and jobs from the service at `origin`. They filter, sort and page the rows. */
export function createSources (origin: string): { candidates: CandidateSource<string>, jobs: JobSource } {
  return {
    candidates: candidatesFrom(
      async (tenantSlug) =>
        (await load<Person>(origin, '/people', tenantSlug)).map((person) => ({
          id: person.id,
          full_name: [person.first, person.last].filter((name) => name !== '').join(' '),
          headline: person.title,
          source_id: person.source,
          recruiter_id: person.owner,
          created_at: person.createdAt,
          updated_at: person.changedAt
        })),
      { ids }
    ),

    jobs: jobsFrom(async (tenantSlug) =>
      (await load<Vacancy>(origin, '/vacancies', tenantSlug)).map((vacancy) => ({
        id: vacancy.nr,
        name: vacancy.title,
        status: vacancy.state,
        created_at: vacancy.createdAt,
        updated_at: vacancy.changedAt
      }))
    )
  }
}

async function load<Item> (origin: string, path: string, tenantSlug: string): Promise<Item[]> {
  const response = await fetch(`${origin}${path}?${new URLSearchParams({ tenant: tenantSlug })}`)
  // The client gets 500, and only the log shows this message.
  if (!response.ok) throw new Error(`the service answered ${response.status} to ${path}`)
  return response.json() as Promise<Item[]>
}
