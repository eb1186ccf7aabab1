export const tenantSlug = 'acme'
export const apiKey = 'rk_3q2vN0yGm8JpZcXr5tLw7aBdEfHi1kMoQsUu4WxYz9A'
export const scopes = ['candidates:read']

export type Id = number | string

export interface CandidateData<OwnId extends Id = Id> {
  id: OwnId
  full_name: string
  headline: string | null
  source_id: OwnId | null
  recruiter_id: OwnId | null
  created_at: string
  updated_at: string
}

const firstNames = [
  'Ada',
  'Bruno',
  'Chloé',
  'Dan',
  'Élise',
  'Farah',
  'Gianni',
  'Hanna',
  'Ivan',
  'Jürgen',
  'Kim',
  'Leïla',
  'Mo'
]
const lastNames = [
  'Almeida',
  'Brandt',
  'Castellano',
  'Dubois',
  'Eriksson',
  'Ferreira',
  'Goldman',
  'Hernández',
  'Ito',
  'Johansson',
  'Kowalski'
]
const headlines = [
  'Senior backend engineer',
  'Product manager, growth',
  null,
  'Nurse practitioner',
  'Head of people operations'
]

/** The same rows in every process. */
export function createCandidates (count: number): Array<CandidateData<number>> {
  return Array.from({ length: count }, (_, index) => {
    const createdAt = new Date(Date.UTC(2026, 0, 1, 0, index * 7)).toISOString()
    return {
      id: index + 1,
      full_name: `${firstNames[index % firstNames.length]} ${lastNames[index % lastNames.length]}`,
      headline: headlines[index % headlines.length] ?? null,
      source_id: index % 4 === 0 ? null : index % 17 + 1,
      recruiter_id: index % 9 + 1,
      created_at: createdAt,
      updated_at: createdAt
    }
  })
}

/** The same rows with uuids for all ids, in the same order. */
export function withUuids (candidates: ReadonlyArray<CandidateData<number>>): Array<CandidateData<string>> {
  return candidates.map((row) => ({
    ...row,
    id: toUuid(row.id),
    source_id: row.source_id === null ? null : toUuid(row.source_id),
    recruiter_id: row.recruiter_id === null ? null : toUuid(row.recruiter_id)
  }))
}

function toUuid (number: number): string {
  return `0197f4c2-8a10-7d3e-9b51-${number.toString(16).padStart(12, '0')}`
}
