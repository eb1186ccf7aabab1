import { levels, trades } from './headlines.js'
import type { Random } from './random.js'

const dayMs = 24 * 60 * 60 * 1000

/** The job statuses of this ATS. The API accepts any text. */
export const jobStatuses = ['draft', 'pending_approval', 'published', 'paused', 'filled', 'closed', 'archived'] as const

export type JobStatus = typeof jobStatuses[number]

/** A job in this ATS. */
export type Job = {
  id: number
  name: string
  status: JobStatus
  created_at: string
  updated_at: string
}

const places = ['Lyon', 'Malmö', 'São Paulo', 'Kraków', 'remote', 'Zürich', 'Cork', '東京']

/** Invents jobs: at least one in every status, most of them published. */
export function createJobs (
  random: Random,
  { count, firstId, nowMs }: { count: number; firstId: number; nowMs: number }
): Job[] {
  return Array.from({ length: count }, (_, index) => {
    const ageMs = random.integer(dayMs, 400 * dayMs)
    return {
      id: firstId + index,
      name: createJobName(random),
      status: jobStatuses[index] ?? (random.chance(0.6) ? 'published' : random.pick(jobStatuses)),
      created_at: new Date(nowMs - ageMs).toISOString(),
      updated_at: new Date(nowMs - random.integer(0, ageMs)).toISOString()
    }
  })
}

export function createJobName (random: Random): string {
  const { role } = random.pick(trades)
  const title = random.chance(0.4) ? `${random.pick(levels)} ${role}` : role
  return `${title} (${random.pick(places)})`
}
