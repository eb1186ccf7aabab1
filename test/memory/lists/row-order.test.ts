import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import type { CandidateSortField, ListQuery, CandidateFilter, SortItem } from '../../../src/ports/index.js'

type Query = ListQuery<CandidateFilter, CandidateSortField>

const byId: SortItem<'id'> = { field: 'id', direction: 'asc' }
const firstPage: Query = { filter: {}, sort: [byId], offset: 0, limit: 200 }

const { candidates } = memoryStorage({
  tenants: {
    acme: {
      candidates: [
        { id: 3, full_name: 'ann', created_at: '2026-01-02T00:00:00Z' },
        { id: 1, full_name: '\u{1f600}', created_at: '2026-01-02T00:00:00Z' },
        { id: 4, full_name: 'ann', created_at: '2026-01-01T23:30:00-01:00' },
        { id: 2, full_name: '\uffee', created_at: '2026-01-01T00:00:00Z' }
      ]
    },
    other: { candidates: [{ id: 9, full_name: 'Other' }] },
    empty: {}
  }
})

async function listIds (query: Partial<Query>, tenantSlug = 'acme'): Promise<number[]> {
  const rows = await candidates.list(tenantSlug, { ...firstPage, ...query })
  return rows.map(({ id }) => id)
}

t.test('dates are ordered by value, whatever offset they were given with', async (t) => {
  t.strictSame(await listIds({ sort: [{ field: 'created_at', direction: 'desc' }, byId] }), [4, 1, 3, 2])
})

t.test('repeated orders stay correct, with many others in between', async (t) => {
  const fields: CandidateSortField[] = ['full_name', 'created_at', 'updated_at']
  const directions: Array<'asc' | 'desc'> = ['asc', 'desc']
  const sorts = fields.flatMap((field) => fields.filter((other) => other !== field).flatMap((other) =>
    directions.map((direction): Query['sort'] => [{ field, direction }, { field: other, direction: 'asc' }, byId])))
  const before = await Promise.all(sorts.map((sort) => listIds({ sort })))

  await Promise.all(directions.map((direction) => listIds({ sort: [{ field: 'full_name', direction }, byId] })))
  await Promise.all(directions.map((direction) => listIds({ sort: [{ field: 'created_at', direction }, byId] })))
  await Promise.all(directions.map((direction) => listIds({ sort: [{ field: 'updated_at', direction }, byId] })))

  t.strictSame(await Promise.all(sorts.map((sort) => listIds({ sort }))), before)
})
