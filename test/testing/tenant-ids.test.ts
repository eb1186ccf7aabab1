import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { namedTenants } from '../../src/testing/support/tenant-ids.js'

t.test('methods that a storage does not have stay missing', async (t) => {
  const storage = memoryStorage()
  const { listAfter: _, ...candidates } = storage.candidates
  const harness = { storage: { ...storage, candidates }, tenantId: (name: string) => `id-${name}`, saveCandidates () {}, saveJobs () {} }
  const named = namedTenants(harness)
  t.equal(named.storage.candidates.listAfter, undefined)
  t.type(named.storage.jobs.listAfter, 'function')
})
