import { memoryStorage } from 'fastify-recruiting-api/memory'
import { type StorageHarness, formatReport, runCases, storageCases } from 'fastify-recruiting-api/testing'

// The kit calls this for each case, which needs an empty storage.
function makeHarness (): StorageHarness {
  const storage = memoryStorage()
  return {
    storage,
    saveCandidates: (tenantSlug, rows) => rows.forEach((row) => storage.candidates.save(tenantSlug, { ...row })),
    saveJobs: (tenantSlug, rows) => rows.forEach((row) => storage.jobs.save(tenantSlug, { ...row }))
  }
}

console.log(formatReport(await runCases(storageCases, makeHarness)))
