import { type Job, createJobs } from './jobs.js'
import { type Candidate, createPeople } from './people.js'
import { createRandom } from './random.js'
import type { Named } from './sources.js'

/** A customer of the ATS, with its data. */
export interface Tenant {
  slug: string
  recruiters: readonly Named[]
  candidates: Candidate[]
  jobs: Job[]
}

/** Creates two customers, the same at every start, with dates up to now. */
export function createTenants (nowMs: number): Tenant[] {
  return [
    createTenant({ slug: 'acme', seed: 2, candidateCount: 320, jobCount: 32, recruiters: acmeRecruiters }, nowMs),
    createTenant({ slug: 'globex', seed: 3, candidateCount: 140, jobCount: 16, recruiters: globexRecruiters }, nowMs)
  ]
}

const acmeRecruiters: readonly Named[] = [
  { id: 11, name: 'Dana Whitfield' },
  { id: 12, name: 'Tomasz Lis' },
  { id: 13, name: 'Ingrid Solberg' },
  { id: 14, name: 'Mateo Rojas' },
  { id: 15, name: 'Yuki Tanaka' }
]

const globexRecruiters: readonly Named[] = [
  { id: 21, name: 'Nadia Haddad' },
  { id: 22, name: 'Colm Byrne' },
  { id: 23, name: 'Lena Vogt' }
]

interface TenantPlan {
  slug: string
  seed: number
  candidateCount: number
  jobCount: number
  recruiters: readonly Named[]
}

function createTenant ({ slug, seed, candidateCount, jobCount, recruiters }: TenantPlan, nowMs: number): Tenant {
  const random = createRandom(seed)
  return {
    slug,
    recruiters,
    candidates: createPeople(random, { count: candidateCount, firstId: 1001, recruiters, nowMs }),
    jobs: createJobs(random, { count: jobCount, firstId: 501, nowMs })
  }
}
