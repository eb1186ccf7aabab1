/** A name behind an id that the API shows. */
export interface Named {
  id: number
  name: string
}

/** The names behind `source_id`: how a candidate found the company. The API gives the id alone. */
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
