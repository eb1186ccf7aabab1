import t from 'tap'
import { keyLookupCases, storageCases } from '../../src/tools/testing/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { namedTenants } from '../../src/tools/testing/support/case.js'

const cases = [...storageCases, ...keyLookupCases]

t.test('case names are unique', async (t) => {
  const names = cases.map(({ name }) => name)
  t.strictSame(names.filter((name, index) => names.indexOf(name) !== index), [])
})

t.test('every case is in a known group', async (t) => {
  t.strictSame([...new Set(cases.map(({ group }) => group))], ['lists', 'webhooks', 'deliveries', 'tenancy', 'races', 'sync', 'idempotency', 'keys'])
})

t.test('optional methods that a storage lacks stay missing', async (t) => {
  const storage = memoryStorage()
  const { listAfter: _, ...candidates } = storage.candidates
  const harness = { storage: { ...storage, candidates }, tenantId: (name: string) => `id-${name}`, saveCandidates () {}, saveJobs () {} }
  const named = namedTenants(harness)
  t.equal(named.storage.candidates.listAfter, undefined)
  t.type(named.storage.jobs.listAfter, 'function')
})
