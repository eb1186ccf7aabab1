import t from 'tap'
import type {
  CandidateFilter, CandidateQuery, CandidateRow, CandidateSortField, CandidateSource, RowSource
} from '../../../src/ports/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { runCases, storageCases, type StorageHarness } from '../../../src/testing/index.js'
import { testMistakes } from '../../fixtures/delivery/broken-storage.js'

const fields = ['id', 'full_name', 'headline', 'source_id', 'recruiter_id', 'created_at', 'updated_at']
const byId = [{ field: 'id' as const, direction: 'asc' as const }]

// All rows of a tenant, for mistakes that sort and filter by themselves.
function listAll (candidates: CandidateSource, tenantSlug: string, query: Partial<CandidateQuery> = {}): Promise<CandidateRow[]> {
  return candidates.list(tenantSlug, { filter: {}, sort: byId, offset: 0, limit: 1000, fields, ...query })
}

async function listMatching (
  candidates: CandidateSource,
  tenantSlug: string,
  { filter: { q, ...filter }, ...query }: CandidateQuery,
  matches: (name: string, q: string) => boolean
): Promise<CandidateRow[]> {
  const rows = await listAll(candidates, tenantSlug, { filter, sort: query.sort })
  return rows.filter((row) => q === undefined || matches(row.full_name, q)).slice(query.offset, query.offset + query.limit)
}

async function listSorted (
  candidates: CandidateSource,
  tenantSlug: string,
  query: CandidateQuery,
  compare: (a: CandidateRow, b: CandidateRow) => number
): Promise<CandidateRow[]> {
  const rows = await listAll(candidates, tenantSlug, { filter: query.filter })
  const order = query.sort[0]?.direction === 'desc' ? -1 : 1
  return rows.sort((a, b) => compare(a, b) * order).slice(query.offset, query.offset + query.limit)
}

function isByName ({ sort }: CandidateQuery): boolean {
  return sort[0]?.field === 'full_name'
}

function stripAccents (text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replace('ß', 'ss').toLowerCase()
}

function like (q: string): RegExp {
  const pattern = q.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')
  return new RegExp(pattern, 'isu')
}

testMistakes([
  {
    storage: 'leaks other tenants\' rows into a list',
    caughtBy: 'candidates: a tenant sees only its own rows',
    breaks: ({ candidates }) => ({
      candidates: {
        list: async (tenantSlug, query) => [...await candidates.list('acme', query), ...await candidates.list('globex', query)].slice(0, query.limit)
      }
    })
  },
  {
    storage: 'counts other tenants\' rows',
    caughtBy: 'jobs: a tenant sees only its own rows',
    breaks: ({ jobs }) => ({
      jobs: { count: async (_tenantSlug, filter) => await jobs.count('acme', filter) + await jobs.count('globex', filter) }
    })
  },
  {
    storage: 'ignores letter case in a tenant slug',
    caughtBy: 'candidates: a tenant sees only its own rows',
    breaks: ({ candidates }) => ({
      candidates: { list: (tenantSlug, query) => candidates.list(tenantSlug.trim().toLowerCase(), query) }
    })
  },
  {
    storage: 'sorts text by locale',
    caughtBy: 'candidates: text is ordered by code point in every language',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => isByName(query)
          ? listSorted(candidates, tenantSlug, query, (a, b) => a.full_name.localeCompare(b.full_name, 'en') || a.id - b.id)
          : candidates.list(tenantSlug, query)
      }
    })
  },
  {
    storage: 'sorts text by UTF-16 units',
    caughtBy: 'candidates: text is ordered by code point in every language',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => isByName(query) && query.sort.length === 2
          ? listSorted(candidates, tenantSlug, query, (a, b) => Number(a.full_name > b.full_name) - Number(a.full_name < b.full_name) || a.id - b.id)
          : candidates.list(tenantSlug, query)
      }
    })
  },
  {
    storage: 'sorts ids as text',
    caughtBy: 'candidates: ids are ordered by value, not as text',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => query.sort[0]?.field === 'id'
          ? listSorted(candidates, tenantSlug, query, (a, b) => `${a.id}` < `${b.id}` ? -1 : 1)
          : candidates.list(tenantSlug, query)
      }
    })
  },
  {
    storage: 'sorts by the first field only',
    caughtBy: 'candidates: ties are broken by the next field, in its own direction',
    breaks: ({ candidates }) => ({
      candidates: { list: (tenantSlug, query) => candidates.list(tenantSlug, { ...query, sort: query.sort.slice(0, 1) }) }
    })
  },
  {
    storage: 'sorts dates to the second',
    caughtBy: 'candidates: dates are ordered by value, to the millisecond',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => query.sort[0]?.field === 'created_at'
          ? listSorted(candidates, tenantSlug, query, (a, b) => String(Reflect.get(a, 'created_at')) < String(Reflect.get(b, 'created_at')).slice(0, 19) ? -1 : 1)
          : candidates.list(tenantSlug, query)
      }
    })
  },
  {
    storage: 'treats % and _ in q as wildcards',
    caughtBy: 'candidates: q matches wildcards, quotes and backslashes literally',
    breaks: ({ candidates }) => ({
      candidates: { list: (tenantSlug, query) => listMatching(candidates, tenantSlug, query, (name, q) => like(q).test(name)) }
    })
  },
  {
    storage: 'ignores letter case only for ASCII',
    caughtBy: 'candidates: q ignores letter case, beyond ASCII too',
    breaks: ({ candidates }) => {
      const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
      return {
        candidates: { list: (tenantSlug, query) => listMatching(candidates, tenantSlug, query, (name, q) => fold(name).includes(fold(q))) }
      }
    }
  },
  {
    storage: 'ignores accents in q',
    caughtBy: 'candidates: q does not match letters that only look alike',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => listMatching(candidates, tenantSlug, query, (name, q) => stripAccents(name).includes(stripAccents(q)))
      }
    })
  },
  {
    storage: 'finds q only at the beginning of a name',
    caughtBy: 'candidates: q finds its text anywhere in the name',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => listMatching(candidates, tenantSlug, query, (name, q) => name.toLowerCase().startsWith(q.toLowerCase()))
      }
    })
  },
  {
    storage: 'ignores a filter',
    caughtBy: 'candidates: recruiterId keeps the candidates of one recruiter',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, { filter: { recruiterId, ...filter }, ...query }) => candidates.list(tenantSlug, { ...query, filter })
      }
    })
  },
  {
    storage: 'applies only one of several filters',
    caughtBy: 'jobs: several filters must all hold',
    breaks: ({ jobs }) => ({
      jobs: {
        list: (tenantSlug, { filter, ...query }) => {
          const [name = '', value] = Object.entries(filter)[0] ?? []
          return jobs.list(tenantSlug, { ...query, filter: name === '' ? {} : { [name]: value } })
        }
      }
    })
  },
  {
    storage: 'includes rows updated exactly at updatedAfter',
    caughtBy: 'candidates: updatedAfter keeps rows updated strictly later',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, { filter: { updatedAfter, ...filter }, ...query }) => candidates.list(tenantSlug, {
          ...query,
          filter: updatedAfter === undefined ? filter : { ...filter, updatedAfter: new Date(Date.parse(updatedAfter) - 1).toISOString() }
        })
      }
    })
  },
  {
    storage: 'ignores letter case in a job status',
    caughtBy: 'jobs: status is compared exactly',
    breaks: ({ jobs }) => ({
      jobs: {
        list: async (tenantSlug, { filter: { status, ...filter }, ...query }) => {
          const rows = await jobs.list(tenantSlug, { ...query, filter })
          return rows.filter((row) => status === undefined || row.status.toLowerCase() === status.toLowerCase())
        }
      }
    })
  },
  {
    storage: 'counts without the filter',
    caughtBy: 'candidates: the total does not depend on the page',
    breaks: ({ candidates }) => ({ candidates: { count: (tenantSlug) => candidates.count(tenantSlug, {}) } })
  },
  {
    storage: 'counts only the rows of a page',
    caughtBy: 'jobs: the total does not depend on the page',
    breaks: ({ jobs }) => ({ jobs: { count: async (tenantSlug, filter) => Math.min(25, await jobs.count(tenantSlug, filter)) } })
  },
  {
    storage: 'returns the stored row objects',
    caughtBy: 'candidates: changing a returned row changes nothing that is stored',
    breaks: ({ candidates }) => {
      const kept = new Map<number, CandidateRow>()
      return {
        candidates: {
          list: async (tenantSlug, query) => (await candidates.list(tenantSlug, query)).map((row) => {
            if (kept.get(row.id)?.full_name !== row.full_name && !kept.has(row.id)) kept.set(row.id, row)
            return kept.get(row.id) ?? row
          })
        }
      }
    }
  },
  {
    storage: 'returns ids as text',
    caughtBy: 'candidates: a row has the fields of its type, with their types',
    breaks: ({ candidates }) => ({
      candidates: {
        list: async (tenantSlug, query) => (await candidates.list(tenantSlug, query)).map((row) =>
          Object.assign(row, row.source_id === null ? {} : { source_id: String(row.source_id) }))
      }
    })
  },
  {
    storage: 'returns dates as objects',
    caughtBy: 'jobs: fields that the host publishes in addition are returned',
    breaks: ({ jobs }) => ({
      jobs: {
        list: async (tenantSlug, query) => (await jobs.list(tenantSlug, query)).map((row) =>
          Object.assign(row, { updated_at: new Date(String(Reflect.get(row, 'updated_at'))) }))
      }
    })
  },
  {
    storage: 'returns only the fields of the row type',
    caughtBy: 'candidates: fields that the host publishes in addition are returned',
    breaks: ({ candidates }) => ({
      candidates: {
        list: async (tenantSlug, query) => (await candidates.list(tenantSlug, query)).map((row) =>
          ({ id: row.id, full_name: row.full_name, headline: row.headline, source_id: row.source_id }))
      }
    })
  },
  {
    storage: 'returns the last page for a page beyond it',
    caughtBy: 'candidates: pages beyond the last row are empty, however far',
    breaks: ({ candidates }) => ({
      candidates: {
        async list (tenantSlug, query) {
          const count = await candidates.count(tenantSlug, query.filter)
          return candidates.list(tenantSlug, { ...query, offset: Math.min(query.offset, Math.max(0, count - 1)) })
        }
      }
    })
  },
  {
    storage: 'returns at most 100 rows',
    caughtBy: 'jobs: a page has up to 200 rows',
    breaks: ({ jobs }) => ({
      jobs: { list: (tenantSlug, query) => jobs.list(tenantSlug, { ...query, limit: Math.min(100, query.limit) }) }
    })
  },
  {
    storage: 'uses a page number as offset',
    caughtBy: 'candidates: a page is a slice of the order, after the filter',
    breaks: ({ candidates }) => ({
      candidates: { list: (tenantSlug, query) => candidates.list(tenantSlug, { ...query, offset: query.offset * query.limit }) }
    })
  },
  {
    storage: 'keeps returning the rows it has read before',
    caughtBy: 'candidates: rows saved between two pages by id neither repeat nor hide rows',
    breaks: ({ candidates }) => {
      let known: CandidateRow[] | undefined
      return {
        candidates: {
          async list (tenantSlug, query) {
            if (tenantSlug !== 'acme' || query.sort[0]?.field !== 'id' || Object.keys(query.filter).length > 0) return candidates.list(tenantSlug, query)
            known ??= await listAll(candidates, tenantSlug, { sort: query.sort })
            return structuredClone(known.slice(query.offset, query.offset + query.limit))
          }
        }
      }
    }
  },
  {
    storage: 'finds a row whichever tenant has it',
    caughtBy: 'candidates: a row of another tenant is not found',
    breaks: ({ candidates }) => ({
      candidates: { find: async (tenantSlug, id, query) => await candidates.find(tenantSlug, id, query) ?? candidates.find('globex', id, query) }
    })
  },
  {
    storage: 'takes an id for one of 32 bits',
    caughtBy: 'jobs: a row is found by its id',
    breaks: ({ jobs }) => ({ jobs: { find: (tenantSlug, id, query) => jobs.find(tenantSlug, id % 2 ** 32, query) } })
  },
  {
    storage: 'finds a row without the fields that the host adds',
    caughtBy: 'candidates: a row that is found has the fields that it has in the list',
    breaks: ({ candidates }) => ({
      candidates: {
        async find (...args) {
          const row = await candidates.find(...args)
          return row === null ? null : { id: row.id, full_name: row.full_name, headline: row.headline, source_id: row.source_id }
        }
      }
    })
  },
  {
    storage: 'returns the row it keeps when one is found',
    caughtBy: 'candidates: changing a row that was found changes nothing that is stored',
    breaks: ({ candidates }) => {
      const kept = new Map<string, CandidateRow | null>()
      return {
        candidates: {
          async find (tenantSlug, id, query) {
            const name = `${tenantSlug} ${id} ${query.fields.join()}`
            if (!kept.has(name)) kept.set(name, await candidates.find(tenantSlug, id, query))
            return kept.get(name) ?? null
          }
        }
      }
    }
  },
  {
    storage: 'sorts the query it was given',
    caughtBy: 'candidates: a query is not modified',
    breaks: ({ candidates }) => ({
      candidates: {
        list: (tenantSlug, query) => {
          Reflect.apply(Array.prototype.push, query.sort, [])
          return candidates.list(tenantSlug, query)
        }
      }
    })
  }
])

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
