import type { RecruitingStorage } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'
import type { Job } from '../data/jobs.js'
import type { Candidate } from '../data/people.js'
import type { Tenant } from '../data/tenants.js'

/** The ATS's database, and the same data as a storage for the API. */
export interface Database {
  storage: RecruitingStorage
  saveCandidate (tenantSlug: string, candidate: Candidate): Promise<void>
  saveJob (tenantSlug: string, job: Job): Promise<void>
  close (): Promise<void>
}

/** Opens PostgreSQL, or memory if `databaseUrl` is `null`. */
export async function openDatabase (tenants: readonly Tenant[], databaseUrl: string | null): Promise<Database> {
  if (databaseUrl === null) return openMemory(tenants)
  // Imported here: in memory, pg need not be installed.
  const { openPostgres } = await import('./postgres.js')
  const database = await openPostgres(databaseUrl)
  for (const { slug, candidates, jobs } of tenants) {
    for (const candidate of candidates) await database.saveCandidate(slug, candidate)
    for (const job of jobs) await database.saveJob(slug, job)
  }
  return database
}

function openMemory (tenants: readonly Tenant[]): Database {
  const storage = memoryStorage({
    tenants: Object.fromEntries(tenants.map(({ slug, candidates, jobs }) => [slug, { candidates, jobs }]))
  })
  return {
    storage,
    async saveCandidate (tenantSlug, candidate) { storage.candidates.save(tenantSlug, candidate) },
    async saveJob (tenantSlug, job) { storage.jobs.save(tenantSlug, job) },
    async close () {}
  }
}
