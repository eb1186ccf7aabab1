import { levels, trades } from './headlines.js'
import { namePools } from './names.js'
import type { Random } from './random.js'
import { type Named, sources } from './sources.js'

const dayMs = 24 * 60 * 60 * 1000

/** A candidate in this ATS. A type alias, because an interface is not assignable to an index signature. */
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
  recruiters: readonly Named[]
  /** Milliseconds since the epoch. All candidates were created within the previous two years. */
  nowMs: number
}

/** Invents candidates, oldest first. */
export function createPeople (random: Random, { count, firstId, recruiters, nowMs }: PeopleOptions): Candidate[] {
  const ages = Array.from({ length: count }, () => random.integer(0, 730 * dayMs)).toSorted((a, b) => b - a)
  return ages.map((ageMs, index) => {
    const person = createPerson(random, { id: firstId + index, recruiters, nowMs: nowMs - ageMs })
    // Half of them have never been updated.
    const updatedMs = random.chance(0.5) ? nowMs - random.integer(0, ageMs) : nowMs - ageMs
    return { ...person, updated_at: new Date(updatedMs).toISOString() }
  })
}

/** Invents one candidate, created now. */
export function createPerson (
  random: Random,
  { id, recruiters, nowMs }: { id: number, recruiters: readonly Named[], nowMs: number }
): Candidate {
  const now = new Date(nowMs).toISOString()
  return {
    id,
    full_name: createName(random),
    headline: random.chance(0.12) ? null : createHeadline(random),
    source_id: random.chance(0.25) ? null : random.pick(sources).id,
    recruiter_id: random.chance(0.2) ? null : random.pick(recruiters).id,
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
