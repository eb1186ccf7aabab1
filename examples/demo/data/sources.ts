/** An id that the API shows, and its name. */
export interface Named {
  id: number
  name: string
}

/** The sources of candidates by `source_id`. The API returns only the id. */
export const sources: readonly Named[] = [
  { id: 1, name: 'Career site' },
  { id: 2, name: 'Employee referral' },
  { id: 3, name: 'Job board' },
  { id: 4, name: 'Recruiting agency' },
  { id: 5, name: 'Job fair' },
  { id: 6, name: 'University' },
  { id: 7, name: 'Social media' },
  { id: 8, name: 'Talent pool' }
]
