import { addCandidate } from './changes.js'
import { type Action, type Application, type Office, addApplication, pickJob, setJobStatus, stages } from './office.js'
import type { Job } from '../data/jobs.js'
import type { Candidate } from '../data/people.js'

type ApplicationEvent = 'application.created' | 'application.stage_changed' | 'application.hired' | 'application.rejected'

/** A new candidate with an application. */
export const candidateApplies: Action = async (office) => {
  const job = pickJob(office, 'published')
  if (job === null) return null
  const candidate = await addCandidate(office)
  await apply(office, candidate, job)
  return `${candidate.full_name} is new here (candidate ${candidate.id}) and applies for ${job.name}`
}

/** An application of somebody the ATS knows already. */
export const candidateComesBack: Action = async (office) => {
  const job = pickJob(office, 'published')
  if (job === null) return null
  const candidate = office.random.pick(office.tenant.candidates)
  await apply(office, candidate, job)
  return `${candidate.full_name} is back and applies for ${job.name}`
}

/** An application gets one stage further. */
export const applicationAdvances: Action = async (office) => {
  const waiting = office.applications.filter(({ stage }) => stage !== 'offer')
  if (waiting.length === 0) return null
  const application = office.random.pick(waiting)
  const from = application.stage
  application.stage = stages[stages.indexOf(from) + 1] ?? from
  await emit(office, 'application.stage_changed', application, { from_stage: from })
  return `${application.candidate.full_name} goes from ${from} to ${application.stage} for ${application.job.name}`
}

/** The oldest application that has got furthest becomes a hire; its job is filled, and the others who want it are told. */
export const candidateIsHired: Action = async (office) => {
  const { tenant, applications, recruiting } = office
  const [best] = applications.toSorted((a, b) => stages.indexOf(b.stage) - stages.indexOf(a.stage))
  if (best === undefined) return null
  const { candidate, job } = best
  remove(office, best)
  await emit(office, 'application.hired', best)
  await setJobStatus(office, job, 'filled')
  await recruiting.emit({ tenantSlug: tenant.slug, type: 'job.closed', data: { ...job }, subject: `job:${job.id}` })
  for (const other of applications.filter((application) => application.job === job)) {
    await reject(office, other, 'position_filled')
  }
  return `${candidate.full_name} is hired; ${job.name} is filled`
}

/** The oldest application is turned down. */
export const applicationIsRejected: Action = async (office) => {
  const [oldest] = office.applications
  if (oldest === undefined) return null
  await reject(office, oldest, 'not_a_match')
  return `${oldest.candidate.full_name} is rejected for ${oldest.job.name}`
}

async function apply (office: Office, candidate: Candidate, job: Job): Promise<void> {
  await emit(office, 'application.created', addApplication(office, candidate, job))
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
    data: { id, candidate_id: candidate.id, job_id: job.id, stage, ...more },
    subject: `application:${id}`
  })
}
