import type { RecruitingStorage } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'
import type { Job } from './jobs.js'
import type { Candidate } from './people.js'
import type { Tenant } from './tenants.js'

/** Where the ATS keeps what it knows, and the same seen through the ports of the API. */
export interface Database {
  storage: RecruitingStorage
  saveCandidate (tenantSlug: string, candidate: Candidate): Promise<void>
  saveJob (tenantSlug: string, job: Job): Promise<void>
}

/** The one place that decides where everything is kept: in memory here, gone when the demo ends. */
export function createDatabase (tenants: readonly Tenant[]): Database {
  const storage = memoryStorage({
    tenants: Object.fromEntries(tenants.map(({ slug, candidates, jobs }) => [slug, { candidates, jobs }]))
  })
  return {
    storage,
    async saveCandidate (tenantSlug, candidate) { storage.candidates.save(tenantSlug, candidate) },
    async saveJob (tenantSlug, job) { storage.jobs.save(tenantSlug, job) }
  }
}
