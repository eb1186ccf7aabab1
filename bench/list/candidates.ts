export const tenantSlug = 'acme'
export const apiKey = 'rk_3q2vN0yGm8JpZcXr5tLw7aBdEfHi1kMoQsUu4WxYz9A'
export const scopes = ['candidates:read']

export interface CandidateData {
  id: number
  full_name: string
  headline: string | null
  source_id: number | null
  recruiter_id: number | null
  created_at: string
  updated_at: string
}

const firstNames = ['Ada', 'Bruno', 'Chloé', 'Dan', 'Élise', 'Farah', 'Gianni', 'Hanna', 'Ivan', 'Jürgen', 'Kim', 'Leïla', 'Mo']
const lastNames = ['Almeida', 'Brandt', 'Castellano', 'Dubois', 'Eriksson', 'Ferreira', 'Goldman', 'Hernández', 'Ito', 'Johansson', 'Kowalski']
const headlines = ['Senior backend engineer', 'Product manager, growth', null, 'Nurse practitioner', 'Head of people operations']

/** The same rows in every process. */
export function createCandidates (count: number): CandidateData[] {
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
