import { same } from '../support/expect.js'
import { candidate, candidateFields, job, jobFields, listCase, pick, rowCases } from './rows.js'

const sort = [{ field: 'id' as const, direction: 'asc' as const }]
const page = { filter: {}, sort, offset: 0, limit: 200 }

const published = {
  id: 9_007_199_254_740_991,
  full_name: 'Zoë "Z" O\'Neil\n\\ \u{1f600}',
  headline: 'Lead — Nurse',
  source_id: 9_007_199_254_740_991,
  recruiter_id: 4_294_967_296,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-02-03T04:05:06.789Z'
}

/** Cases about the fields and the tenant of rows. */
export const contentCases = [
  [listCase({
    port: 'candidates.list', name: 'candidates: a row has the fields of its type, with their types'
  }, async ({ storage, saveCandidates }) => {
    await saveCandidates('acme', [published, candidate(1)])
    const rows = await storage.candidates.list('acme', { ...page, fields: candidateFields })
    same(rows.map((row) => pick(row, candidateFields)), [
      { id: 1, full_name: 'Name 1', headline: null, source_id: null }, pick(published, candidateFields)
    ], 'the rows: numbers as numbers, absence as null, text as saved')
  }),

  listCase({
    port: 'jobs.list', name: 'jobs: a row has the fields of its type, with their types'
  }, async ({ storage, saveJobs }) => {
    const rare = job(9_007_199_254_740_991, { name: 'Night "shift"\n\\ \u{1f600}', status: 'on_hold' })
    await saveJobs('acme', [rare, job(1)])
    const rows = await storage.jobs.list('acme', { ...page, fields: jobFields })
    same(
      rows.map((row) => pick(row, jobFields)),
      [{ id: 1, name: 'Name 1', status: 'published' }, pick(rare, jobFields)],
      'the rows: numbers as numbers, text as saved'
    )
  }),

  listCase({
    port: 'candidates.list', name: 'candidates: fields that the host publishes in addition are returned'
  }, async ({ storage, saveCandidates }) => {
    await saveCandidates('acme', [published])
    const more = [...candidateFields, 'recruiter_id', 'created_at', 'updated_at']
    const rows = await storage.candidates.list('acme', { ...page, fields: more })
    same(rows.map((row) => pick(row, more)), [published], 'the rows: dates in RFC 3339, UTC, with milliseconds')
  }),

  listCase({
    port: 'jobs.list', name: 'jobs: fields that the host publishes in addition are returned'
  }, async ({ storage, saveJobs }) => {
    const saved = job(1, { updated_at: '2026-02-03T04:05:06.789Z' })
    await saveJobs('acme', [saved])
    const more = [...jobFields, 'created_at', 'updated_at']
    same((await storage.jobs.list('acme', { ...page, fields: more })).map((row) => pick(row, more)), [saved],
      'the rows: dates in RFC 3339, UTC, with milliseconds')
  })],

  rowCases({ port: 'list', name: 'a tenant sees only its own rows' }, async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }, { id: 2, name: 'Ana' }])
    await rows.save([{ id: 2, name: 'Bo' }, { id: 3, name: 'Ana' }], 'globex')
    for (const [tenantSlug, q, ids] of [
      ['acme', 'ana', [1, 2]],
      ['globex', 'ana', [3]],
      ['acme', 'bo', []],
      ['globex', 'bo', [2]]
    ] as const) {
      same(await rows.ids({ filter: { q } }, tenantSlug), ids, `the rows of ${tenantSlug} found by ${q}`)
      same(await rows.count({ q }, tenantSlug), ids.length, `the number of rows of ${tenantSlug} found by ${q}`)
    }
    same(await rows.ids({}, 'globex'), [2, 3], 'the rows of globex')
    same(await rows.count({}, 'globex'), 2, 'the total of globex')
    for (const slug of ['ACME', 'Acme', 'acme ', ' acme', 'acm', 'acm_', 'a%', '%', "acme' or '1'='1"]) {
      same(await rows.ids({}, slug), [], `the rows of ${JSON.stringify(slug)}, another tenant`)
      same(await rows.count({}, slug), 0, `the total of ${JSON.stringify(slug)}`)
    }
  }),

  rowCases({ port: 'list', name: 'changing a returned row changes nothing that is stored' }, async (rows) => {
    await rows.save([{ id: 1, name: 'Ana' }])
    const before = structuredClone(await rows.list())
    for (const row of await rows.list()) {
      Object.assign(row, { id: 2, full_name: 'changed', name: 'changed', headline: 'changed', status: 'changed' })
    }
    same(await rows.list(), before, 'the row, read again')
  }),

  [listCase({
    port: 'verify', name: 'verify accepts a usable storage, for every app that starts on it'
  }, async ({ storage, tenantId }) => {
    const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
    const published = { candidates: candidateFields, jobs: jobFields, ids, hasTenantIds: tenantId !== undefined }
    for (const asked of [published, null, published]) {
      const warnings = await storage.verify?.(asked)
      same(
        warnings?.filter((warning) => typeof warning !== 'string'),
        warnings && [],
        'the warnings that are not strings'
      )
    }
  }),

  listCase({
    port: 'candidates.list', name: 'candidates: a query is not modified'
  }, async ({ storage, saveCandidates }) => {
    await saveCandidates('acme', [candidate(1)])
    const query = Object.freeze({
      ...page,
      filter: Object.freeze({ q: 'NAME' }),
      sort: Object.freeze([...sort]),
      fields: Object.freeze([...candidateFields])
    })
    same((await storage.candidates.list('acme', query)).map(({ id }) => id), [1], 'the result of a frozen query')
  })]
].flat()
