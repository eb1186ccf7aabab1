import { type Job, createJobs } from './jobs.js'
import { type Candidate, createPeople } from './people.js'
import { createRandom } from './random.js'

/** A customer of the ATS, with all that it keeps there. */
export interface Tenant {
  slug: string
  recruiterIds: readonly number[]
  candidates: Candidate[]
  jobs: Job[]
}

/** Two customers, the same at every start but for the dates, which end now. */
export function createTenants (nowMs: number): Tenant[] {
  return [
    createTenant({ slug: 'acme', seed: 2, candidateCount: 320, jobCount: 32, recruiterIds: [11, 12, 13, 14, 15] }, nowMs),
    createTenant({ slug: 'globex', seed: 3, candidateCount: 140, jobCount: 16, recruiterIds: [21, 22, 23] }, nowMs)
  ]
}

interface TenantPlan {
  slug: string
  seed: number
  candidateCount: number
  jobCount: number
  recruiterIds: readonly number[]
}

function createTenant ({ slug, seed, candidateCount, jobCount, recruiterIds }: TenantPlan, nowMs: number): Tenant {
  const random = createRandom(seed)
  return {
    slug,
    recruiterIds,
    candidates: createPeople(random, { count: candidateCount, firstId: 1001, recruiterIds, nowMs }),
    jobs: createJobs(random, { count: jobCount, firstId: 501, nowMs })
  }
}
