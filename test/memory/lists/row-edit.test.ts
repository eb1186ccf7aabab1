import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import type { CandidateFilter, CandidateSortField, ListQuery } from '../../../src/ports/index.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'

const all: ListQuery<CandidateFilter, CandidateSortField> = {
  filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200
}
const byName: typeof all = { ...all, sort: [{ field: 'full_name', direction: 'asc' }, { field: 'id', direction: 'asc' }] }

t.test('a row is filled in with nulls and the time of the storage', async (t) => {
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

t.test('a saved row is stored with its further fields, and with dates in UTC', async (t) => {
  const row = { id: 1, full_name: 'Ann', headline: 'Welder', source_id: 4, recruiter_id: 5, tags: ['a'], email: 'a@b.example' }
  const { candidates } = memoryStorage()
  candidates.save('acme', { ...row, created_at: '2026-01-01T01:00:00+02:00', updated_at: '2026-01-02t00:00:00.1239z' })

  t.strictSame(await candidates.list('acme', all), [
    { ...row, created_at: '2025-12-31T23:00:00.000Z', updated_at: '2026-01-02T00:00:00.123Z' }
  ])
})

t.test('a row that is created is not updated since', async (t) => {
  const { jobs } = memoryStorage()
  jobs.save('acme', { id: 1, name: 'Baker', status: 'open', created_at: '2026-01-01T00:00:00Z' })

  const [job] = await jobs.list('acme', { ...all, sort: [{ field: 'id', direction: 'asc' }], filter: {} })
  t.hasStrict(job, { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' })
})

t.test('a saved row shows in the next page, in every order', async (t) => {
  const { candidates } = memoryStorage({ tenants: { acme: { candidates: [{ id: 2, full_name: 'b' }] } } })
  await candidates.list('acme', byName)
  candidates.save('acme', { id: 3, full_name: 'a' })
  candidates.save('acme', { id: 1, full_name: 'c' })

  t.strictSame((await candidates.list('acme', all)).map(({ id }) => id), [1, 2, 3])
  t.strictSame((await candidates.list('acme', byName)).map(({ id }) => id), [3, 2, 1])
  t.equal(await candidates.count('acme', {}), 3)
})

t.test('saving replaces the whole row of the same id', async (t) => {
  const clock = createManualClock('2026-01-01T00:00:00Z')
  const { candidates } = memoryStorage({
    clock, tenants: { acme: { candidates: [{ id: 1, full_name: 'Ann', headline: 'Welder', email: 'a@b.example' }] } }
  })
  await candidates.list('acme', byName)
  await clock.advance(1000)
  candidates.save('acme', { id: 1, full_name: 'Zoe' })

  const zoe = { id: 1, full_name: 'Zoe', headline: null, source_id: null, recruiter_id: null }
  const dates = { created_at: '2026-01-01T00:00:01.000Z', updated_at: '2026-01-01T00:00:01.000Z' }
  t.strictSame(await candidates.list('acme', byName), [{ ...zoe, ...dates }])
  t.equal(await candidates.count('acme', { q: 'ann' }), 0)
  t.equal(await candidates.count('acme', { q: 'zoe' }), 1)
})

t.test('a removed row is gone from every order, and only once', async (t) => {
  const rows = [{ id: 1, full_name: 'a' }, { id: 2, full_name: 'b' }]
  const { candidates } = memoryStorage({ tenants: { acme: { candidates: rows }, other: { candidates: rows } } })
  await candidates.list('acme', byName)

  t.equal(candidates.remove('acme', 1), true)
  t.equal(candidates.remove('acme', 1), false)
  t.equal(candidates.remove('nobody', 1), false)
  t.strictSame((await candidates.list('acme', byName)).map(({ id }) => id), [2])
  t.equal(await candidates.count('other', {}), 2)
})

t.test('changing a row that was passed or returned changes nothing in the storage', async (t) => {
  const handedIn = { id: 1, full_name: 'Ann', headline: 'Welder', tags: [{ name: 'a' }], since: new Date(0) }
  const { candidates } = memoryStorage({
    clock: createManualClock(0), tenants: { acme: { candidates: [handedIn, { id: 2, full_name: 'Bob' }] } }
  })
  const before = await candidates.list('acme', all)

  handedIn.full_name = 'changed'
  handedIn.tags.push({ name: 'changed' })
  handedIn.since.setTime(1)
  for (const row of [...await candidates.list('acme', all), ...await candidates.list('acme', byName)]) {
    row.full_name = 'changed'
    if ('tags' in row && Array.isArray(row.tags)) row.tags[0].name = 'changed'
  }

  t.strictSame(await candidates.list('acme', all), before)
  t.hasStrict(before[0], { full_name: 'Ann', tags: [{ name: 'a' }], since: new Date(0) })
})

t.test('a field named __proto__ neither stays nor changes what the row inherits', async (t) => {
  const { candidates } = memoryStorage()
  candidates.save('acme', JSON.parse('{"id":1,"full_name":"Ann","__proto__":{"headline":"x","admin":true}}'))

  const [row] = await candidates.list('acme', all)
  t.equal(row && Object.getPrototypeOf(row), Object.prototype)
  t.notOk(row && 'admin' in row)
})

t.test('the system clock is the default', async (t) => {
  const { candidates } = memoryStorage({ tenants: { acme: { candidates: [{ id: 1, full_name: 'Ann' }] } } })
  const aMinuteAgo = new Date(Date.now() - 60_000).toISOString()
  const inAMinute = new Date(Date.now() + 60_000).toISOString()

  t.equal(await candidates.count('acme', { updatedAfter: aMinuteAgo }), 1)
  t.equal(await candidates.count('acme', { updatedAfter: inAMinute }), 0)
})
