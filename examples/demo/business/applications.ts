import type { Job } from '../data/jobs.js'
import type { Candidate } from '../data/people.js'
import { addCandidate, findPublishedJob, setJobStatus } from './changes.js'
import { type Action, type Application, type Office, addApplication, stages } from './office.js'

type ApplicationEvent =
  'application.created' | 'application.stage_changed' | 'application.hired' | 'application.rejected'

/** A new candidate applies for a job. */
export const candidateApplies: Action = async (office) => {
  const job = await findPublishedJob(office)
  const candidate = await addCandidate(office)
  await apply(office, candidate, job)
  return `${candidate.full_name} (new candidate ${candidate.id}) applied for ${job.name}`
}

/** An existing candidate applies for another job. */
export const candidateComesBack: Action = async (office) => {
  const { candidate, job } = await applyAgain(office)
  return `${candidate.full_name} applied again, for ${job.name}`
}

/** An application moves to its next stage. */
export const applicationAdvances: Action = async (office) => {
  const movable = office.applications.filter(({ stage }) => stage !== 'offer')
  const application = movable.length > 0 ? office.random.pick(movable) : await applyAgain(office)
  const from = application.stage
  application.stage = stages[stages.indexOf(from) + 1] ?? from
  await emit(office, 'application.stage_changed', application, { from_stage: from })
  return `${application.candidate.full_name} moved from ${from} to ${application.stage} for ${application.job.name}`
}

/** Hires the candidate in the latest stage, closes the job and rejects its other applicants. */
export const candidateIsHired: Action = async (office) => {
  const [furthest] = office.applications.toSorted((a, b) => stages.indexOf(b.stage) - stages.indexOf(a.stage))
  const hire = furthest ?? await applyAgain(office)
  const { candidate, job } = hire
  remove(office, hire)
  await emit(office, 'application.hired', hire)
  await setJobStatus(office, job, { status: 'filled', type: 'job.closed' })
  for (const other of office.applications.filter((application) => application.job === job)) {
    await reject(office, other, 'position_filled')
  }
  return `${candidate.full_name} was hired for ${job.name}, and the job is filled`
}

/** Rejects the oldest application. */
export const applicationIsRejected: Action = async (office) => {
  const application = office.applications[0] ?? await applyAgain(office)
  await reject(office, application, 'not_a_match')
  return `${application.candidate.full_name} was rejected for ${application.job.name}`
}

async function applyAgain (office: Office): Promise<Application> {
  return apply(office, office.random.pick(office.tenant.candidates), await findPublishedJob(office))
}

async function apply (office: Office, candidate: Candidate, job: Job): Promise<Application> {
  const application = addApplication(office, candidate, job)
  await emit(office, 'application.created', application)
  return application
}

async function reject (office: Office, application: Application, reason: string): Promise<void> {
  remove(office, application)
  await emit(office, 'application.rejected', application, { reason })
}

function remove ({ applications }: Office, application: Application): void {
  applications.splice(applications.indexOf(application), 1)
}

async function emit (
  { tenant, recruiting }: Office,
  type: ApplicationEvent,
  { id, candidate, job, stage }: Application,
  more: Record<string, unknown> = {}
): Promise<void> {
  await recruiting.emit({
    tenantSlug: tenant.slug,
    type,
    data: {
      id,
      candidate_id: candidate.id,
      candidate_name: candidate.full_name,
      job_id: job.id,
      job_name: job.name,
      stage,
      ...more
    },
    subject: `application:${id}`
  })
}
