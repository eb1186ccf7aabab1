import type { Job, JobStatus } from '../data/jobs.js'
import { type Candidate, createHeadline, createPerson } from '../data/people.js'
import { type Action, type Office, addDraft, nextId, pickJob } from './office.js'

export async function addCandidate (office: Office): Promise<Candidate> {
  const { tenant: { candidates, recruiters }, random } = office
  const candidate = createPerson(random, { id: nextId(candidates), recruiters, nowMs: Date.now() })
  candidates.push(candidate)
  await saveCandidate(office, 'candidate.created', candidate)
  return candidate
}

/** A candidate gets a new headline. */
export const candidateIsUpdated: Action = async (office) => {
  const { tenant, random } = office
  const candidate = random.pick(tenant.candidates)
  candidate.headline = createHeadline(random)
  candidate.updated_at = new Date().toISOString()
  await saveCandidate(office, 'candidate.updated', candidate)
  return `${candidate.full_name} changed the headline to "${candidate.headline}"`
}

/** Publishes a draft. */
export const jobIsPublished: Action = async (office) => {
  const { id, name } = await publishJob(office)
  return `${name} was published as job ${id}`
}

/** Returns a published job; publishes one if there is none. */
export async function findPublishedJob (office: Office): Promise<Job> {
  return pickJob(office, 'published') ?? await publishJob(office)
}

/** Changes a job's status and emits its event. */
export async function setJobStatus (
  { tenant: { slug }, database, recruiting }: Office,
  job: Job,
  { status, type }: { status: JobStatus, type: 'job.published' | 'job.closed' }
): Promise<void> {
  job.status = status
  job.updated_at = new Date().toISOString()
  await database.saveJob(slug, job)
  await recruiting.emit({ tenantSlug: slug, type, data: { ...job }, subject: `job:${job.id}` })
}

async function publishJob (office: Office): Promise<Job> {
  const job = pickJob(office, 'draft') ?? addDraft(office)
  await setJobStatus(office, job, { status: 'published', type: 'job.published' })
  return job
}

async function saveCandidate (
  { tenant: { slug }, database, recruiting }: Office,
  type: 'candidate.created' | 'candidate.updated',
  candidate: Candidate
): Promise<void> {
  await database.saveCandidate(slug, candidate)
  await recruiting.emit({ tenantSlug: slug, type, data: { ...candidate }, subject: `candidate:${candidate.id}` })
}
