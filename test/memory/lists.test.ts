import fc from 'fast-check'
import t from 'tap'
import { candidatesFrom, jobsFrom, memoryStorage } from '../../src/storages/memory/index.js'
import { storageCases, type StorageHarness } from '../../src/tools/testing/index.js'
import type { CandidateFilter, CandidateSortField, ListQuery } from '../../src/core/ports/index.js'
import { compareText } from '../../src/storages/memory/sorting.js'
import { isRecruitingApiError } from '../../src/core/shared/errors.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'

const dates = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' }
const ann = { id: 1, full_name: 'Ann', ...dates }
const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 200, fields: [] }

t.test('a page and its total, requested concurrently, share one load', async (t) => {
  let loads = 0
  const candidates = candidatesFrom(async () => {
    loads++
    return [ann]
  })
  await Promise.all([candidates.list('acme', page), candidates.count('acme', {}), candidates.count('globex', {})])
  t.equal(loads, 2, 'one for each tenant')
  await candidates.count('acme', {})
  t.equal(loads, 3, 'the next page loads again')
})

t.test('an invalid row rejects with its path, and a failing load with its error', async (t) => {
  await t.rejects(candidatesFrom(() => [ann, { ...ann, id: 0 }]).count('acme', {}), { code: 'invalid_option', field: 'candidates[1].id' })
  await t.rejects(candidatesFrom(() => [ann, ann]).count('acme', {}), { code: 'invalid_option', field: 'candidates[1].id' })
  const jobs = jobsFrom(() => { throw new Error('the service is down') })
  await t.rejects(jobs.list('acme', page), { message: 'the service is down' })
  await t.rejects(jobs.count('acme', {}), { message: 'the service is down' })
})

const all: ListQuery<CandidateFilter, CandidateSortField> = {
  filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200
}
const byName: typeof all = { ...all, sort: [{ field: 'full_name', direction: 'asc' }, { field: 'id', direction: 'asc' }] }

t.test('a row gets null and the storage\'s time for missing fields', async (t) => {
  const clock = createManualClock('2026-01-01T00:00:00Z')
  const { candidates, jobs } = memoryStorage({
    clock,
    tenants: { acme: { candidates: [{ id: 1, full_name: 'Ann' }], jobs: [{ id: 1, name: 'Baker', status: 'open' }] } }
  })
  const dates = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }

  t.strictSame(await candidates.list('acme', all), [
    { id: 1, full_name: 'Ann', headline: null, source_id: null, recruiter_id: null, ...dates }
  ])
  t.strictSame(await jobs.list('acme', { ...all, sort: [{ field: 'id', direction: 'asc' }], filter: {} }), [
    { id: 1, name: 'Baker', status: 'open', ...dates }
  ])
})

t.test('a saved row has its other fields and dates in UTC, and updated_at is created_at by default', async (t) => {
  const row = { id: 1, full_name: 'Ann', headline: 'Welder', source_id: 4, recruiter_id: 5, tags: ['a'], email: 'a@b.example' }
  const { candidates } = memoryStorage()
  candidates.save('acme', { ...row, created_at: '2026-01-01T01:00:00+02:00', updated_at: '2026-01-02t00:00:00.1239z' })
  candidates.save('acme', { ...row, id: 2, created_at: '2026-01-01T00:00:00Z' })
  t.strictSame(await candidates.list('acme', all), [
    { ...row, created_at: '2025-12-31T23:00:00.000Z', updated_at: '2026-01-02T00:00:00.123Z' },
    { ...row, id: 2, created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
  ])
})

t.test('the next page reflects rows saved, replaced or removed in between', async (t) => {
  const rows = [{ id: 1, full_name: 'Ann', headline: 'Welder', email: 'a@b.example' }, { id: 2, full_name: 'Bob' }]
  const clock = createManualClock('2026-01-01T00:00:00Z')
  const { candidates } = memoryStorage({ clock, tenants: { acme: { candidates: rows }, other: { candidates: rows } } })
  await candidates.list('acme', byName)
  candidates.save('acme', { id: 1, full_name: 'Zoe' })
  candidates.save('acme', { id: 4, full_name: 'Abe' })
  candidates.save('acme', { id: 3, full_name: 'Cid' })
  t.equal(candidates.remove('acme', 2), true)
  t.equal(candidates.remove('acme', 2), false)
  t.equal(candidates.remove('nobody', 1), false)

  const dates = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
  const rest = { headline: null, source_id: null, recruiter_id: null, ...dates }
  const [abe, cid, zoe] = [[4, 'Abe'], [3, 'Cid'], [1, 'Zoe']].map(([id, name]) => ({ id, full_name: name, ...rest }))
  t.strictSame(await candidates.list('acme', byName), [abe, cid, zoe])
  t.strictSame(await candidates.list('acme', all), [zoe, cid, abe])
  const counts = [await candidates.count('acme', { q: 'ann' }), await candidates.count('acme', { q: 'zoe' })]
  t.strictSame([...counts, await candidates.count('other', {})], [0, 1, 2])
})

t.test('a field named __proto__ is dropped and does not change the prototype of the row', async (t) => {
  const { candidates } = memoryStorage()
  candidates.save('acme', JSON.parse('{"id":1,"full_name":"Ann","__proto__":{"headline":"x","admin":true}}'))

  const [row] = await candidates.list('acme', all)
  t.equal(row && Object.getPrototypeOf(row), Object.prototype)
  t.notOk(row && 'admin' in row)
})

function compareCodePoints (a: string, b: string): number {
  const pointsA = [...a].map((character) => character.codePointAt(0) ?? 0)
  const pointsB = [...b].map((character) => character.codePointAt(0) ?? 0)
  const at = pointsA.findIndex((point, index) => point !== pointsB[index])
  if (at === -1) return pointsA.length - pointsB.length
  return (pointsA[at] ?? 0) - (pointsB[at] ?? -1)
}

t.test('any two strings are ordered by their code points', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) =>
    Math.sign(compareText(a, b)) === Math.sign(compareCodePoints(a, b))
  ), { seed: 1 })
})

const plainAnn = { id: 1, full_name: 'Ann' }
const baker = { id: 1, name: 'Baker', status: 'open' }

function rejection (act: () => unknown): { code: string, field: string, message: string } | null {
  try {
    act()
    return null
  } catch (error) {
    if (!isRecruitingApiError(error)) throw error
    return { code: error.code, field: error.field, message: error.message }
  }
}

// As a host without types may call it, with rows from a file.
function open (json: unknown): unknown {
  return Reflect.apply(memoryStorage, undefined, [json])
}

const tenant = 'expected a tenant of 1 to 200 characters without control characters'
const wellFormed = 'expected a string without NUL and lone surrogates'

const rejected: Array<[given: unknown, field: string, problem: string]> = [
  [{ tenants: [] }, 'tenants', 'expected an object, got an array'],
  [{ tenants: () => ({}) }, 'tenants', 'expected an object, got a function'],
  [{ tenants: { '': {} } }, 'tenants', `${tenant}, got ""`],
  [{ tenants: { acme: null } }, 'tenants.acme', 'expected an object, got null'],
  [{ tenants: { acme: { candidates: {} } } }, 'tenants.acme.candidates', 'expected an array, got an object'],
  [{ tenants: { acme: { jobs: [baker, undefined] } } }, 'tenants.acme.jobs[1]', 'expected an object, got undefined'],
  [{ tenants: { acme: { jobs: [baker, baker] } } }, 'tenants.acme.jobs[1].id', 'expected an id that no other row has, got 1']
]

const rejectedCandidates: Array<[changes: Record<string, unknown>, field: string, problem: string]> = [
  [{ id: 0 }, '.id', 'expected a positive integer, got 0'],
  [{ id: 2 ** 53 }, '.id', 'expected a positive integer, got 9007199254740992'],
  [{ full_name: null }, '.full_name', 'expected a string, got null'],
  [{ full_name: 'a\0b' }, '.full_name', `${wellFormed}, got "a\\u0000b"`],
  [{ full_name: 'a\ud800b' }, '.full_name', `${wellFormed}, got "a\\ud800b"`],
  [{ headline: `\0${'x'.repeat(90)}` }, '.headline', `${wellFormed}, got "\\u0000${'x'.repeat(59)}…"`],
  [{ source_id: '5' }, '.source_id', 'expected an integer or null, got "5"'],
  [{ recruiter_id: Number.NaN }, '.recruiter_id', 'expected an integer or null, got NaN'],
  [{ created_at: () => 0 }, '', 'expected fields with plain data'],
  [{ updated_at: '2026-02-30T00:00:00Z' }, '.updated_at', 'expected an RFC 3339 date-time, got "2026-02-30T00:00:00Z"'],
  [{ further: Symbol('further') }, '', 'expected fields with plain data']
]

t.test('malformed options are rejected with their path', async (t) => {
  for (const [given, field, problem] of rejected) {
    t.strictSame(rejection(() => open(given)), { code: 'invalid_option', field, message: `${field}: ${problem}` })
  }
})

t.test('a malformed candidate is rejected at startup and on save', async (t) => {
  const { candidates } = memoryStorage()
  for (const [changes, field, problem] of rejectedCandidates) {
    const row = { ...plainAnn, ...changes }
    const first = `tenants.acme.candidates[1]${field}`
    const given = { tenants: { acme: { candidates: [{ ...plainAnn, id: 2 }, row] } } }
    t.strictSame(rejection(() => open(given)), { code: 'invalid_option', field: first, message: `${first}: ${problem}` })

    const later = `row${field}`
    const save = (): unknown => Reflect.apply(candidates.save, undefined, ['acme', row])
    t.strictSame(rejection(save), { code: 'invalid_option', field: later, message: `${later}: ${problem}` })
  }
  t.equal(await candidates.count('acme', {}), 0)
})

t.test('a row can only be saved for a valid tenant', async (t) => {
  const { jobs } = memoryStorage()
  for (const id of ['', 'a'.repeat(201), 'a\u0000', 'a\u007f']) {
    t.equal(rejection(() => jobs.save(id, baker))?.field, 'tenant')
  }
  t.equal(rejection(() => jobs.save('a'.repeat(200), baker)), null)
})

const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
const rule = 'a string of 1 to 64 visible ASCII characters without /'

t.test('a row is removed only by its text id', async (t) => {
  const { candidates } = memoryStorage({ ids })
  for (const id of ['A', 'a']) candidates.save('acme', { id, full_name: id })
  t.strictSame([candidates.remove('acme', 'b'), candidates.remove('acme', 'A')], [false, true])
  t.match([await candidates.find('acme', 'A'), await candidates.find('acme', 'a')], [null, { id: 'a' }])
})

t.test('an id of another kind is rejected with its path', async (t) => {
  const rejected: Array<[field: 'id' | 'source_id' | 'recruiter_id', value: unknown, problem: string]> = [
    ['id', 1, `${rule}, got 1`],
    ['id', '', `${rule}, got ""`],
    ['id', 'a/b', `${rule}, got "a/b"`],
    ['id', 'x'.repeat(65), `${rule}, got "${'x'.repeat(60)}…"`],
    ['source_id', 3, `${rule}, or null, got 3`],
    ['recruiter_id', '', `${rule}, or null, got ""`]
  ]
  for (const [field, value, problem] of rejected) {
    const row = { id: 'a', full_name: 'Ada', [field]: value } as { id: string, full_name: string }
    const message = `candidates[0].${field}: expected ${problem}`
    t.throws(() => memoryStorage({ ids, tenants: { acme: { candidates: [row] } } }), { code: 'invalid_option', message: `tenants.acme.${message}` })
    await t.rejects(candidatesFrom(() => [{ ...row, ...dates }], { ids }).count('acme', {}), { code: 'invalid_option', message })
  }
  t.throws(() => memoryStorage({ ids }).jobs.save('acme', { id: 7 as never, name: 'Nurse', status: 'open' }), { message: `row.id: expected ${rule}, got 7` })
})

t.test('sources from functions pass the list cases with text ids', async (t) => {
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
