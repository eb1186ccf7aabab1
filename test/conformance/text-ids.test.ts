import t, { type Test } from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import type { IdKinds } from '../../src/ports/index.js'
import { type MakeStorage, type SavedCandidate, type SavedJob, storageCases } from '../../src/testing/index.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { createTables } from '../fixtures/postgres/postgres.js'

const text: IdKinds = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' }
const cases = storageCases.filter(({ group }) => ['lists', 'sync'].includes(group))

async function testCases (t: Test, make: MakeStorage): Promise<void> {
  for (const { name, run } of cases) await t.test(name, () => run(make))
}

/** Harness over an empty memory storage with ids of these kinds. */
function makeMemory (ids: Partial<IdKinds>, hasUuids: boolean): MakeStorage {
  return () => {
    const storage = memoryStorage<Partial<IdKinds>>({ ids })
    return {
      ids,
      hasUuids,
      storage,
      saveCandidates (tenantSlug, rows: ReadonlyArray<SavedCandidate<number | string, number | string, number | string>>) {
        for (const row of rows) storage.candidates.save(tenantSlug, { ...row })
      },
      saveJobs (tenantSlug, rows: ReadonlyArray<SavedJob<number | string>>) {
        for (const row of rows) storage.jobs.save(tenantSlug, { ...row })
      }
    }
  }
}

/** Harness over tables of PostgreSQL whose ids all have this type. */
async function makePostgres (t: Test, idType: string, hasUuids: boolean): Promise<MakeStorage> {
  const pool = (await startPostgres(t)).createPool()
  const { storage, saveCandidates, saveJobs, clear } = await createTables(pool, {}, idType)
  return async () => {
    await clear()
    return { ids: text, hasUuids, storage, saveCandidates, saveJobs }
  }
}

t.test('memory keeps the promises about lists and sync with text ids', (t) => testCases(t, makeMemory(text, false)))

t.test('memory keeps them where only some ids are text', async (t) => {
  for (const name of ['candidate', 'job', 'source', 'recruiter']) {
    await t.test(name, (t) => testCases(t, makeMemory({ [name]: 'string' }, true)))
  }
})

for (const [idType, hasUuids] of [['uuid', true], ['text collate "en-x-icu"', false], ['varchar(64) collate "C"', false]] as const) {
  t.test(`PostgreSQL keeps the promises about lists and sync with ids of type ${idType}`, async (t) => testCases(t, await makePostgres(t, idType, hasUuids)))
}
