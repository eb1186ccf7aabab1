import t from 'tap'
import { candidatesFrom, jobsFrom, memoryStorage } from '../../../src/memory/index.js'
import { storageCases } from '../../../src/testing/index.js'
import type { StorageHarness } from '../../../src/testing/index.js'

const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
const fields: readonly string[] = []
const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 200, fields }
const rule = 'a string of 1 to 64 visible ASCII characters without /'

t.test('rows are saved, replaced and removed by their text ids', async (t) => {
  const { candidates } = memoryStorage({ ids })
  for (const id of ['b', 'A', 'a', 'a']) candidates.save('acme', { id, full_name: `Name ${id}`, source_id: 's', recruiter_id: 'r' })
  t.same((await candidates.list('acme', page)).map(({ id }) => id), ['A', 'a', 'b'])
  t.match(await candidates.find('acme', 'a'), { id: 'a', source_id: 's' })
  t.equal(await candidates.count('acme', { recruiterId: 'r' }), 3)
  t.equal(candidates.remove('acme', 'c'), false)
  t.equal(candidates.remove('acme', 'A'), true)
  t.equal(await candidates.find('acme', 'A'), null)
})

t.test('an id of another kind is refused, by its path', async (t) => {
  const refused: Array<[field: 'id' | 'source_id' | 'recruiter_id', value: unknown, problem: string]> = [
    ['id', 1, `${rule}, got 1`],
    ['id', undefined, `${rule}, got undefined`],
    ['id', '', `${rule}, got ""`],
    ['id', 'a/b', `${rule}, got "a/b"`],
    ['id', 'a b', `${rule}, got "a b"`],
    ['id', 'é', `${rule}, got "é"`],
    ['id', 'x'.repeat(65), `${rule}, got "${'x'.repeat(60)}…"`],
    ['source_id', 3, `${rule}, or null, got 3`],
    ['recruiter_id', '', `${rule}, or null, got ""`]
  ]
  for (const [field, value, problem] of refused) {
    const row = { id: 'a', full_name: 'Ada', [field]: value } as { id: string, full_name: string }
    const message = `candidates[0].${field}: expected ${problem}`
    t.throws(() => memoryStorage({ ids, tenants: { acme: { candidates: [row] } } }), { code: 'invalid_option', message: `tenants.acme.${message}` })
    const dates = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
    await t.rejects(candidatesFrom(() => [{ ...row, ...dates }], { ids }).count('acme', {}), { code: 'invalid_option', message })
  }
  t.throws(() => memoryStorage({ ids }).jobs.save('acme', { id: 7 as never, name: 'Nurse', status: 'open' }), { message: `row.id: expected ${rule}, got 7` })
})

t.test('sources from functions keep the promises about lists with text ids', async (t) => {
  function makeHarness (): StorageHarness<string, string, string, string> {
    type Rows = Parameters<StorageHarness<string, string, string, string>['saveCandidates']>[1]
    type Jobs = Parameters<StorageHarness<string, string, string, string>['saveJobs']>[1]
    const people = new Map<string, Rows[number][]>()
    const vacancies = new Map<string, Jobs[number][]>()
    return {
      ids,
      storage: {
        ...memoryStorage(),
        candidates: candidatesFrom((tenantSlug) => people.get(tenantSlug) ?? [], { ids }),
        jobs: jobsFrom((tenantSlug) => vacancies.get(tenantSlug) ?? [], { ids })
      },
      saveCandidates: (tenantSlug, rows) => { people.set(tenantSlug, [...people.get(tenantSlug) ?? [], ...rows]) },
      saveJobs: (tenantSlug, rows) => { vacancies.set(tenantSlug, [...vacancies.get(tenantSlug) ?? [], ...rows]) }
    }
  }
  for (const { group, name, run } of storageCases) {
    if (group === 'lists') await t.test(name, () => run(makeHarness))
  }
})
