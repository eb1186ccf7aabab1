import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import type { CandidateFilter, CandidateRow, CandidateSortField, RowSource } from '../../../src/ports/index.js'
import { type StorageHarness, runCases, storageCases } from '../../../src/testing/index.js'

type TextSource = RowSource<CandidateRow<string, string>, CandidateFilter<string>, CandidateSortField>

const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
const lists = storageCases.filter(({ group }) => group === 'lists')
const everything = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 1000, fields: [] } as const

interface Mistake {
  /** What the storage does wrong. */
  storage: string
  /** The name of the case that must fail for it. */
  caughtBy: string
  hasUuids?: boolean
  breaks (right: TextSource): Partial<TextSource>
}

/** Lists in another order of ids, if the first field is the id. */
function listBy (candidates: TextSource, compare: (a: string, b: string) => number): TextSource['list'] {
  return async (tenantSlug, query) => {
    const [first] = query.sort
    if (first?.field !== 'id') return candidates.list(tenantSlug, query)
    const rows = await candidates.list(tenantSlug, { ...everything, filter: query.filter })
    return rows.sort((a, b) => compare(a.id, b.id) * (first.direction === 'asc' ? 1 : -1)).slice(query.offset, query.offset + query.limit)
  }
}

/** Finds the first row whose id is the same by another comparison. */
function findBy (candidates: TextSource, isSame: (a: string, b: string) => boolean): TextSource['find'] {
  return async (tenantSlug, id) => (await candidates.list(tenantSlug, everything)).find((row) => isSame(row.id, id)) ?? null
}

const order = 'candidates: ids are in the order of their values or code points'
const compared = 'candidates: an id is compared exactly'

const mistakes: Mistake[] = [
  {
    storage: 'sorts text ids by a language',
    caughtBy: order,
    breaks: (candidates) => ({ list: listBy(candidates, new Intl.Collator('en').compare) })
  },
  {
    storage: 'sorts text ids that are digits as numbers',
    caughtBy: order,
    breaks: (candidates) => ({ list: listBy(candidates, (a, b) => Number(a) - Number(b) || (a < b ? -1 : 1)) })
  },
  {
    storage: 'sorts uuids by their last digits first',
    caughtBy: order,
    hasUuids: true,
    breaks: (candidates) => ({ list: listBy(candidates, (a, b) => a.slice(24) + a < b.slice(24) + b ? -1 : 1) })
  },
  {
    storage: 'ignores the letter case of text ids',
    caughtBy: compared,
    breaks: (candidates) => ({ find: findBy(candidates, (a, b) => a.toLowerCase() === b.toLowerCase()) })
  },
  {
    storage: 'reads text ids as numbers',
    caughtBy: compared,
    breaks: (candidates) => ({ find: findBy(candidates, (a, b) => a === b || Number(a) === Number(b)) })
  },
  {
    storage: 'returns text ids that are digits as numbers',
    caughtBy: compared,
    breaks: (candidates) => ({
      async find (tenantSlug, id, query) {
        const row = await candidates.find(tenantSlug, id, query)
        return row === null || !/^\d+$/.test(row.id) ? row : { ...row, id: Number(row.id) as never }
      }
    })
  },
  {
    storage: 'returns uuids in upper case',
    caughtBy: 'candidates: a row has the fields of its type, with their types',
    hasUuids: true,
    breaks: (candidates) => ({
      list: async (tenantSlug, query) => (await candidates.list(tenantSlug, query)).map((row) => ({ ...row, source_id: row.source_id?.toUpperCase() ?? null }))
    })
  },
  {
    storage: 'rejects text that is not a uuid',
    caughtBy: 'candidates: an id that no row can have is not found',
    hasUuids: true,
    breaks: (candidates) => ({
      async find (tenantSlug, id, query) {
        if (id.length !== 36) throw new Error('invalid input syntax for type uuid')
        return candidates.find(tenantSlug, id, query)
      }
    })
  },
  {
    storage: 'takes % and _ in the id of a recruiter for wildcards',
    caughtBy: 'candidates: the id of a recruiter is compared exactly',
    breaks: (candidates) => ({
      async list (tenantSlug, query) {
        const { recruiterId, ...filter } = query.filter
        if (!/[%_]/.test(recruiterId ?? '')) return candidates.list(tenantSlug, query)
        return candidates.list(tenantSlug, { ...query, filter })
      }
    })
  }
]

function makeBroken ({ hasUuids = false, breaks }: Mistake): StorageHarness<string, string, string, string> {
  const { candidates, jobs, webhooks, deliveries } = memoryStorage({ ids })
  return {
    ids,
    hasUuids,
    storage: { candidates: { ...candidates, ...breaks(candidates) }, jobs, webhooks, deliveries },
    saveCandidates: (tenantSlug, rows) => rows.forEach((row) => candidates.save(tenantSlug, { ...row })),
    saveJobs: (tenantSlug, rows) => rows.forEach((row) => jobs.save(tenantSlug, { ...row }))
  }
}

for (const mistake of mistakes) {
  t.test(`a storage that ${mistake.storage} is caught by: ${mistake.caughtBy}`, async (t) => {
    const results = await runCases(lists, () => makeBroken(mistake))
    const caught = results.filter(({ error }) => error !== null).map(({ name }) => name)
    t.ok(caught.includes(mistake.caughtBy), 'the case fails', { caught })
    t.ok(caught.length < lists.length / 2, 'most cases still pass', { caught })
  })
}

t.test('a storage with integers where the harness says text is caught', async (t) => {
  const storage = memoryStorage()
  const results = await runCases(lists, () => ({
    ids,
    storage,
    saveCandidates: (tenantSlug, rows) => rows.forEach((row, index) => storage.candidates.save(tenantSlug, { ...row as object, id: index + 1, full_name: 'Ada', source_id: 7 })),
    saveJobs () {}
  }))
  const [error] = results.flatMap(({ name, error }) => name === 'candidates: ids are ordered by value, not as text' ? [error] : [])
  t.match(error, { actual: ['number 1', 'number 2', 'number 3', 'number 4', 'number 5'] })
})
