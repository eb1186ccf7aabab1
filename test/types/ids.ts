import { type CandidateRow, type CandidateSource, type JobSource, type RecruitingApiOptions, type RecruitingStorage, createRecruiting } from '../../src/index.js'
import { candidatesFrom, memoryStorage } from '../../src/storages/memory/index.js'
import { type PgPool, postgresStorage } from '../../src/storages/postgres/index.js'
import type { MakeStorage, StorageHarness } from '../../src/tools/testing/index.js'

/* Compiled by `npm run types`: the types of ids follow the option. */

const ids = { candidate: 'string', recruiter: 'string' } as const
const dates = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }

export async function memory (): Promise<[string, number | null, number]> {
  const storage = memoryStorage({ ids, tenants: { acme: { candidates: [{ id: 'a', full_name: 'Ada', source_id: 3, recruiter_id: 'r', email: '' }], jobs: [{ id: 1, name: 'Nurse', status: 'open' }] } } })
  const row: CandidateRow<string> | null = await storage.candidates.find('acme', 'a')
  // @ts-expect-error the candidates of this storage have text ids
  storage.candidates.save('acme', { id: 1, full_name: 'Ada' })
  // @ts-expect-error its jobs have integer ids
  storage.jobs.save('acme', { id: 'a', name: 'Nurse', status: 'open' })
  // @ts-expect-error not a kind of id
  memoryStorage({ ids: { candidate: 'uuid' } })
  return [row?.id ?? '', row?.source_id ?? null, (await storage.jobs.list('acme', { filter: {}, sort: [], offset: 0, limit: 1 }))[0]?.id ?? 0]
}

/** A vendor's own source declares its ids as type arguments: candidate, source, recruiter. */
export const source: CandidateSource<string, number, string> = candidatesFrom(() => [{ id: 'a', full_name: 'Ada', ...dates }], { ids })
// @ts-expect-error rows with integer ids
candidatesFrom(() => [{ id: 1, full_name: 'Ada', ...dates }], { ids })

/** The plugin and `createRecruiting` accept storages with any ids. */
export function taken (pool: PgPool, mixed: RecruitingStorage<string, number>, own: JobSource<string>): void {
  const storages: Array<RecruitingApiOptions['storage']> = [
    memoryStorage(), memoryStorage({ ids }),
    postgresStorage(pool), postgresStorage<string, string, string, string>(pool),
    mixed, { ...mixed, jobs: own }
  ]
  for (const storage of storages) createRecruiting({ storage, ids })
}

/** The kit accepts harnesses with any ids. */
export function harnesses (
  integers: StorageHarness, texts: StorageHarness<string, string, string, string>
): MakeStorage[] {
  return [() => integers, async () => texts]
}
