import { same } from '../support/expect.js'
import { candidate, candidateIds, job, jobIds, listCase, rowCases } from './rows.js'

/** Cases about all filters except `q`. */
export const filterCases = [
  [listCase({
    port: 'candidates.list', name: 'candidates: recruiterId keeps the candidates of one recruiter'
  }, async (harness) => {
    const { saveCandidates, storage: { candidates } } = harness
    await saveCandidates(
      'acme',
      [1, 12, null, 1, 9_007_199_254_740_991].map((recruiter, index) =>
        candidate(index + 1, { recruiter_id: recruiter })
      )
    )
    const expected: Array<[number, number[]]> = [
      [1, [1, 4]],
      [12, [2]],
      [2, []],
      [9_007_199_254_740_991, [5]],
      [9_007_199_254_740_990, []]
    ]
    for (const [recruiterId, ids] of expected) {
      same(await candidateIds(harness, { recruiterId }), ids, `the candidates of recruiter ${recruiterId}`)
      same(
        await candidates.count('acme', { recruiterId }),
        ids.length,
        `the number of candidates of recruiter ${recruiterId}`
      )
    }
  }),

  listCase({ port: 'jobs.list', name: 'jobs: status is compared exactly' }, async (harness) => {
    const { saveJobs, storage: { jobs } } = harness
    const known = ['published', 'Published', 'publishéd', 'published ', 'draft', 'on_hold', 'onxhold', 'x'.repeat(64)]
    await saveJobs('acme', known.map((status, index) => job(index + 1, { status })))
    for (const [index, status] of known.entries()) {
      same(await jobIds(harness, { status }), [index + 1], `the jobs with status ${JSON.stringify(status)}`)
      same(await jobs.count('acme', { status }), 1, `the number of jobs with status ${JSON.stringify(status)}`)
    }
    for (const status of ['publish', '%', 'PUBLISHED', ' draft']) {
      same(await jobIds(harness, { status }), [], `the jobs with the unused status ${JSON.stringify(status)}`)
      same(await jobs.count('acme', { status }), 0, `the number of jobs with status ${JSON.stringify(status)}`)
    }
  })],

  rowCases({ port: 'list', name: 'updatedAfter keeps rows updated strictly later' }, async (rows) => {
    const dates = [
      '2025-12-31T23:59:59.999Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.001Z',
      '2026-06-01T00:00:00.000Z'
    ]
    await rows.save(
      dates.map((date, index) => ({
        id: index + 1,
        name: 'same',
        created_at: '2020-01-01T00:00:00.000Z',
        updated_at: date
      }))
    )
    const expected: Array<[string, number[]]> = [
      ['2020-01-01T00:00:00.000Z', [1, 2, 3, 4]],
      ['2025-12-31T23:59:59.998Z', [1, 2, 3, 4]],
      ['2025-12-31T23:59:59.999Z', [2, 3, 4]],
      ['2026-01-01T00:00:00.000Z', [3, 4]],
      ['2026-01-01T00:00:00.001Z', [4]],
      ['2026-06-01T00:00:00.000Z', []],
      ['0001-01-01T00:00:00.000Z', [1, 2, 3, 4]],
      ['9999-12-31T23:59:59.999Z', []]
    ]
    for (const [updatedAfter, ids] of expected) {
      same(await rows.ids({ filter: { updatedAfter } }), ids, `the rows updated after ${updatedAfter}`)
      same(await rows.count({ updatedAfter }), ids.length, `the number of rows updated after ${updatedAfter}`)
    }
  }),

  rowCases({ port: 'list', name: 'updatedAfter compares the milliseconds that are shown' }, async (rows) => {
    const dates = ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123999Z', '2026-01-01T00:00:00.124001Z']
    await rows.save(dates.map((date, index) => ({ id: index + 1, name: 'same', updated_at: date })))
    for (const [updatedAfter, ids] of [
      ['2026-01-01T00:00:00.122Z', [1, 2, 3]],
      ['2026-01-01T00:00:00.123Z', [3]],
      ['2026-01-01T00:00:00.124Z', []]
    ] as const) {
      same(await rows.ids({ filter: { updatedAfter } }), ids, `the rows updated after ${updatedAfter}`)
      same(await rows.count({ updatedAfter }), ids.length, `the number of rows updated after ${updatedAfter}`)
    }
  }),

  [listCase({ port: 'candidates.list', name: 'candidates: several filters must all hold' }, async (harness) => {
    const { saveCandidates, storage: { candidates } } = harness
    const date = '2026-01-02T00:00:00.000Z'
    await saveCandidates('acme', [
      candidate(1, { full_name: 'Ana', recruiter_id: 7, updated_at: date }),
      candidate(2, { full_name: 'Ana', recruiter_id: 8, updated_at: date }),
      candidate(3, { full_name: 'Bo', recruiter_id: 7, updated_at: date }),
      candidate(4, { full_name: 'Ana', recruiter_id: 7 })
    ])
    const filter = { q: 'ana', recruiterId: 7, updatedAfter: '2026-01-01T00:00:00.000Z' }
    same(await candidateIds(harness, filter), [1], 'the only candidate that passes q, recruiterId and updatedAfter')
    same(await candidates.count('acme', filter), 1, 'the number that pass all three')
    same(await candidateIds(harness, {}), [1, 2, 3, 4], 'all rows without a filter')
  }),

  listCase({ port: 'jobs.list', name: 'jobs: several filters must all hold' }, async (harness) => {
    const { saveJobs, storage: { jobs } } = harness
    const date = '2026-01-02T00:00:00.000Z'
    await saveJobs('acme', [
      job(1, { name: 'Baker', status: 'draft', updated_at: date }), job(2, { name: 'Baker', updated_at: date }),
      job(3, { name: 'Welder', status: 'draft', updated_at: date }), job(4, { name: 'Baker', status: 'draft' })
    ])
    const filter = { q: 'bak', status: 'draft', updatedAfter: '2026-01-01T00:00:00.000Z' }
    same(await jobIds(harness, filter), [1], 'the only job that passes q, status and updatedAfter')
    same(await jobs.count('acme', filter), 1, 'the number that pass all three')
    same(await jobIds(harness, {}), [1, 2, 3, 4], 'all rows without a filter')
  })]
].flat()
