import { type MemoryCandidate, type MemoryJob, memoryStorage } from '../../src/storages/memory/index.js'

/* Compiled by `npm run types`: each @ts-expect-error fails unless the next line is invalid. */

interface Person {
  id: number
  full_name: string
  email: string
}

interface Vacancy {
  id: number
  name: string
  status: 'open' | 'closed'
  office: { city: string }
}

/** Rows with a host's interface, which has no index signature. */
export function ownInterfaces (candidates: Person[], jobs: readonly Vacancy[], person: Person, vacancy: Vacancy): void {
  const storage = memoryStorage({ tenants: { acme: { candidates, jobs } } })
  storage.candidates.save('acme', person)
  storage.jobs.save('acme', vacancy)
}

/** Literal rows with additional fields. */
export function literals (): [MemoryCandidate, MemoryJob] {
  memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ada', email: 'ada@example.com' }], jobs: [{ id: 1, name: 'Nurse', status: 'open', office: 3 }] } } })
  return [{ id: 1, full_name: 'Ada', phone: null }, { id: 1, name: 'Nurse', status: 'open', office: 3 }]
}

/** The contract's fields are still checked. */
export function mistakes (): void {
  const { candidates, jobs } = memoryStorage()
  // @ts-expect-error no name
  candidates.save('acme', { id: 1 })
  // @ts-expect-error an id that is not a number
  candidates.save('acme', { id: '1', full_name: 'Ada' })
  // @ts-expect-error a headline that is not text, with an additional field
  candidates.save('acme', { id: 1, full_name: 'Ada', headline: 7, email: 'ada@example.com' })
  // @ts-expect-error no status
  jobs.save('acme', { id: 1, name: 'Nurse' })
}
