import { type Action, type Office, addDraft, nextId, pickJob, setJobStatus } from './office.js'
import { type Candidate, createHeadline, createPerson } from '../data/people.js'

/** Somebody the ATS did not know, who is in the candidate list from now on. */
export async function addCandidate ({ tenant, database, recruiting, random }: Office): Promise<Candidate> {
  const { slug, candidates, recruiterIds } = tenant
  const candidate = createPerson(random, { id: nextId(candidates), recruiterIds, nowMs: Date.now() })
  candidates.push(candidate)
  await database.saveCandidate(slug, candidate)
  await recruiting.emit({
    tenantSlug: slug,
    type: 'candidate.created',
    data: { ...candidate },
    subject: `candidate:${candidate.id}`
  })
  return candidate
}

/** Somebody has a new headline. */
export const candidateIsUpdated: Action = async ({ tenant: { slug, candidates }, database, recruiting, random }) => {
  const candidate = random.pick(candidates)
  candidate.headline = createHeadline(random)
  candidate.updated_at = new Date().toISOString()
  await database.saveCandidate(slug, candidate)
  await recruiting.emit({
    tenantSlug: slug,
    type: 'candidate.updated',
    data: { ...candidate },
    subject: `candidate:${candidate.id}`
  })
  return `${candidate.full_name} is now "${candidate.headline}"`
}

/** A draft, a new one if none is left, can be applied for from now on. */
export const jobIsPublished: Action = async (office) => {
  const job = pickJob(office, 'draft') ?? addDraft(office)
  await setJobStatus(office, job, 'published')
  await office.recruiting.emit({
    tenantSlug: office.tenant.slug,
    type: 'job.published',
    data: { ...job },
    subject: `job:${job.id}`
  })
  return `job ${job.id} is published: ${job.name}`
}
