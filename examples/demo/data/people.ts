import { levels, trades } from './headlines.js'
import { namePools } from './names.js'
import type { Random } from './random.js'

const dayMs = 24 * 60 * 60 * 1000

/** A candidate as this ATS keeps it. A type, for an interface would not fit rows that may have further fields. */
export type Candidate = {
  id: number
  full_name: string
  headline: string | null
  source_id: number | null
  recruiter_id: number | null
  created_at: string
  updated_at: string
}

export interface PeopleOptions {
  count: number
  firstId: number
  recruiterIds: readonly number[]
  /** Milliseconds since the epoch: the people came within the two years before. */
  nowMs: number
}

/** Invents candidates, the oldest first. */
export function createPeople (random: Random, { count, firstId, recruiterIds, nowMs }: PeopleOptions): Candidate[] {
  const ages = Array.from({ length: count }, () => random.integer(0, 730 * dayMs)).toSorted((a, b) => b - a)
  return ages.map((ageMs, index) => {
    const person = createPerson(random, { id: firstId + index, recruiterIds, nowMs: nowMs - ageMs })
    // Half of them were never touched again.
    const updatedMs = random.chance(0.5) ? nowMs - random.integer(0, ageMs) : nowMs - ageMs
    return { ...person, updated_at: new Date(updatedMs).toISOString() }
  })
}

/** Invents one candidate, created now. */
export function createPerson (
  random: Random,
  { id, recruiterIds, nowMs }: { id: number, recruiterIds: readonly number[], nowMs: number }
): Candidate {
  const now = new Date(nowMs).toISOString()
  return {
    id,
    full_name: createName(random),
    headline: random.chance(0.12) ? null : createHeadline(random),
    source_id: random.chance(0.25) ? null : random.integer(1, 8),
    recruiter_id: random.chance(0.2) ? null : random.pick(recruiterIds),
    created_at: now,
    updated_at: now
  }
}

export function createHeadline (random: Random): string {
  const { role, skills } = random.pick(trades)
  const title = random.chance(0.5) ? `${random.pick(levels)} ${role}` : role
  return random.chance(0.6) ? `${title}, ${random.pick(skills)}` : title
}

function createName (random: Random): string {
  const { given, family, separator = ' ', isFamilyFirst = false } = random.pick(namePools)
  const names = [random.pick(given), random.pick(family)]
  return (isFamilyFirst ? names.reverse() : names).join(separator)
}
