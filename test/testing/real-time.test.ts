import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { runCases, storageCases } from '../../src/testing/index.js'
import type { StorageHarness } from '../../src/testing/index.js'

function makeHarness (): StorageHarness {
  const storage = memoryStorage()
  return {
    storage,
    saveCandidates: (tenantSlug, rows) => rows.forEach((row) => storage.candidates.save(tenantSlug, { ...row })),
    saveJobs: (tenantSlug, rows) => rows.forEach((row) => storage.jobs.save(tenantSlug, { ...row }))
  }
}

t.test('without a clock to move, the cases wait: the same storage passes all of them', async (t) => {
  const results = await runCases(storageCases, makeHarness)
  t.strictSame(results.filter(({ error }) => error !== null), [])
  t.equal(results.length, storageCases.length)
})
