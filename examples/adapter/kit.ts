import { memoryStorage } from 'fastify-recruiting-api/memory'
import { type StorageHarness, formatReport, runCases, storageCases } from 'fastify-recruiting-api/testing'

// Called once for every case: each has an empty storage of its own.
function makeHarness (): StorageHarness {
  const storage = memoryStorage()
  return {
    storage,
    saveCandidates: (tenantSlug, rows) => rows.forEach((row) => storage.candidates.save(tenantSlug, { ...row })),
    saveJobs: (tenantSlug, rows) => rows.forEach((row) => storage.jobs.save(tenantSlug, { ...row }))
  }
}

console.log(formatReport(await runCases(storageCases, makeHarness)))
