import t from 'tap'
import type { Test } from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import type { CandidateFilter, JobFilter } from '../../src/ports/index.js'

const { candidates, jobs } = memoryStorage({
  tenants: {
    acme: {
      candidates: [
        { id: 1, full_name: 'René 100%', recruiter_id: 7, updated_at: '2026-01-01T00:00:00Z' },
        { id: 2, full_name: 'Ren_e', recruiter_id: 7, updated_at: '2026-01-01T00:00:00.001Z' },
        { id: 3, full_name: 'RENÉ Xe', recruiter_id: 8, updated_at: '2026-01-02T00:00:00Z' },
        { id: 4, full_name: 'back\\slash', updated_at: '2026-01-02T00:00:00Z' }
      ],
      jobs: [
        { id: 1, name: 'Welder', status: 'open', updated_at: '2026-01-01T00:00:00Z' },
        { id: 2, name: 'Night welder', status: 'closed', updated_at: '2026-01-02T00:00:00Z' },
        { id: 3, name: 'Baker', status: 'Open', updated_at: '2026-01-03T00:00:00Z' }
      ]
    }
  }
})

async function findCandidates (t: Test, filter: CandidateFilter): Promise<number[]> {
  const rows = await candidates.list('acme', { filter, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200 })
  t.equal(await candidates.count('acme', filter), rows.length)
  return rows.map(({ id }) => id)
}

async function findJobs (t: Test, filter: JobFilter): Promise<number[]> {
  const rows = await jobs.list('acme', { filter, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200 })
  t.equal(await jobs.count('acme', filter), rows.length)
  return rows.map(({ id }) => id)
}

t.test('a search finds a part of the name in any letter case', async (t) => {
  t.strictSame(await findCandidates(t, { q: 'rené' }), [1, 3])
  t.strictSame(await findCandidates(t, { q: 'É' }), [1, 3])
  t.strictSame(await findCandidates(t, { q: 'nobody' }), [])
  t.strictSame(await findJobs(t, { q: 'WELD' }), [1, 2])
})

t.test('wildcards and backslashes in a search stand for themselves', async (t) => {
  t.strictSame(await findCandidates(t, { q: '%' }), [1])
  t.strictSame(await findCandidates(t, { q: '_' }), [2])
  t.strictSame(await findCandidates(t, { q: 'k\\s' }), [4])
  t.strictSame(await findCandidates(t, { q: '.*' }), [])
})

t.test('candidates are filtered by recruiter', async (t) => {
  t.strictSame(await findCandidates(t, { recruiterId: 7 }), [1, 2])
  t.strictSame(await findCandidates(t, { recruiterId: 9 }), [])
})

t.test('jobs are filtered by their exact status', async (t) => {
  t.strictSame(await findJobs(t, { status: 'open' }), [1])
  t.strictSame(await findJobs(t, { status: 'draft' }), [])
})

t.test('updatedAfter is strict', async (t) => {
  t.strictSame(await findCandidates(t, { updatedAfter: '2026-01-01T00:00:00.000Z' }), [2, 3, 4])
  t.strictSame(await findJobs(t, { updatedAfter: '2026-01-02T00:00:00.000Z' }), [3])
})

t.test('all conditions must hold', async (t) => {
  t.strictSame(await findCandidates(t, { recruiterId: 7, q: 'ren', updatedAfter: '2026-01-01T00:00:00.000Z' }), [2])
  t.strictSame(await findJobs(t, { status: 'closed', q: 'weld', updatedAfter: '2026-01-02T00:00:00.000Z' }), [])
})

t.test('a page of a filtered list is a slice of what passes', async (t) => {
  const sort = [{ field: 'id' as const, direction: 'desc' as const }]
  const rows = await candidates.list('acme', { filter: { q: 'ren' }, sort, offset: 1, limit: 1 })
  t.strictSame(rows.map(({ id }) => id), [2])
})
