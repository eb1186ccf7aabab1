import type { FastifyInstance } from 'fastify'
import type { Database } from '../ats/database.js'
import { type Job, type JobStatus, createJobName } from '../data/jobs.js'
import type { Candidate } from '../data/people.js'
import type { Random } from '../data/random.js'
import type { Tenant } from '../data/tenants.js'

/** The stages of an application, in order. */
export const stages = ['applied', 'screening', 'interview', 'offer'] as const

export type Stage = typeof stages[number]

export interface Application {
  id: number
  candidate: Candidate
  job: Job
  stage: Stage
}

/** The recruiters of one tenant, with their data. */
export interface Office {
  tenant: Tenant
  /** Open applications, oldest first. */
  applications: Application[]
  lastApplicationId: number
  database: Database
  recruiting: FastifyInstance['recruiting']
  random: Random
}

/** Changes the ATS's data, creates missing records, and returns a sentence about the change. */
export type Action = (office: Office) => Promise<string>

/** Creates an office with two applications in each stage. */
export function openOffice (parts: Pick<Office, 'tenant' | 'database' | 'recruiting' | 'random'>): Office {
  const office: Office = { ...parts, applications: [], lastApplicationId: 7000 }
  for (const stage of [...stages, ...stages]) {
    const job = pickJob(office, 'published')
    if (job !== null) addApplication(office, parts.random.pick(parts.tenant.candidates), job).stage = stage
  }
  return office
}

export function addApplication (office: Office, candidate: Candidate, job: Job): Application {
  office.lastApplicationId += 1
  const application: Application = { id: office.lastApplicationId, candidate, job, stage: 'applied' }
  office.applications.push(application)
  return application
}

export function pickJob ({ tenant, random }: Office, status: JobStatus): Job | null {
  const jobs = tenant.jobs.filter((job) => job.status === status)
  return jobs.length === 0 ? null : random.pick(jobs)
}

export function addDraft ({ tenant: { jobs }, random }: Office): Job {
  const now = new Date().toISOString()
  const job: Job = { id: nextId(jobs), name: createJobName(random), status: 'draft', created_at: now, updated_at: now }
  jobs.push(job)
  return job
}

/** Returns the next row's id. Rows are never removed. */
export function nextId (rows: ReadonlyArray<{ id: number }>): number {
  return (rows.at(-1)?.id ?? 0) + 1
}
