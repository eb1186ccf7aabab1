import t from 'tap'
import { candidatesFrom, jobsFrom, memoryStorage } from '../../../src/memory/index.js'
import type { LoadedCandidate, LoadedJob } from '../../../src/memory/index.js'
import { storageCases } from '../../../src/testing/index.js'
import type { StorageHarness } from '../../../src/testing/index.js'

const dates = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
const ann = { id: 1, full_name: 'Ann', ...dates }
const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 200, fields: [] }

function makeHarness (): StorageHarness {
  const people = new Map<string, LoadedCandidate[]>()
  const vacancies = new Map<string, LoadedJob[]>()
  return {
    storage: {
      ...memoryStorage(),
      candidates: candidatesFrom((tenantSlug) => people.get(tenantSlug) ?? []),
      jobs: jobsFrom(async (tenantSlug) => vacancies.get(tenantSlug) ?? [])
    },
    saveCandidates: (tenantSlug, rows) => { people.set(tenantSlug, [...rows, ...people.get(tenantSlug) ?? []].map((row) => ({ ...row }))) },
    saveJobs: (tenantSlug, rows) => { vacancies.set(tenantSlug, [...rows, ...vacancies.get(tenantSlug) ?? []].map((row) => ({ ...row }))) }
  }
}

for (const { group, name, run } of storageCases) {
  if (group === 'lists') t.test(name, () => run(makeHarness))
}

t.test('a page and its total, requested concurrently, share one load', async (t) => {
  let loads = 0
  const candidates = candidatesFrom(async () => {
    loads++
    return [ann]
  })
  await Promise.all([candidates.list('acme', page), candidates.count('acme', {}), candidates.count('globex', {})])
  t.equal(loads, 2, 'one for each tenant')
  await candidates.count('acme', {})
  t.equal(loads, 3, 'the next page loads anew')
})

t.test('a row that cannot be served rejects with its place, and so does a load that fails', async (t) => {
  await t.rejects(candidatesFrom(() => [ann, { ...ann, id: 0 }]).count('acme', {}), { code: 'invalid_option', field: 'candidates[1].id' })
  await t.rejects(candidatesFrom(() => [ann, ann]).count('acme', {}), { code: 'invalid_option', field: 'candidates[1].id' })
  const jobs = jobsFrom(() => { throw new Error('the service is down') })
  await t.rejects(jobs.list('acme', page), { message: 'the service is down' })
  await t.rejects(jobs.count('acme', {}), { message: 'the service is down' })
})
