import { same } from '../support/expect.js'
import { candidate, candidateIds, job, jobIds, listCase, rowCases, type Rows } from './rows.js'

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

async function saveNames (rows: Rows, names: readonly string[]): Promise<void> {
  await rows.save(names.map((name, index) => ({ id: index + 1, name })))
}

async function findsAll (rows: Rows, searches: ReadonlyArray<[q: string, ids: number[]]>): Promise<void> {
  for (const [q, ids] of searches) {
    same(await rows.ids({ filter: { q } }), ids, `the rows found by q ${JSON.stringify(q)}`)
    same(await rows.count({ q }), ids.length, `the number of rows found by q ${JSON.stringify(q)}`)
  }
}

/** Cases about `q`. */
export const searchCases = [
  rowCases({ port: 'list', name: 'q finds its text anywhere in the name' }, async (rows) => {
    await saveNames(rows, ['Ana Costa', 'Costas Vana', 'Bo', 'an a'])
    await findsAll(rows, [
      ['Ana', [1, 2]],
      ['a c', [1]],
      ['costa', [1, 2]],
      ['o', [1, 2, 3]],
      ['n a', [4]],
      ['nobody', []]
    ])
  }),

  rowCases({ port: 'list', name: 'q ignores letter case, beyond ASCII too' }, async (rows) => {
    await saveNames(rows, ['René', 'RENÉ', 'Ωmega', 'ОЛЬГА', 'ørsted', 'Đurić'])
    await findsAll(rows, [
      ['rené', [1, 2]],
      ['RENÉ', [1, 2]],
      ['É', [1, 2]],
      ['é', [1, 2]],
      ['ωM', [3]],
      ['ольга', [4]],
      ['Ø', [5]],
      ['đURIĆ', [6]]
    ])
  }),

  rowCases({ port: 'list', name: 'q ignores which lower-case form a letter has' }, async (rows) => {
    await saveNames(rows, ['Νίκος', 'ΝΊΚΟΣ', 'νίκοσ', 'Κωστας Β', 'ΚΩΣΤΑΣ', 'Weiß', 'WEIẞ', '\u212Berg', 'Åerg'])
    await findsAll(rows, [
      ['νίκος', [1, 2, 3]],
      ['ΝΊΚΟΣ', [1, 2, 3]],
      ['νίκοσ', [1, 2, 3]],
      ['κωσ', [4, 5]],
      ['ΑΣ Β', [4]],
      ['Σ', [1, 2, 3, 4, 5]],
      ['ß', [6, 7]],
      ['ẞ', [6, 7]],
      ['å', [8, 9]]
    ])
  }),

  rowCases({ port: 'list', name: 'q does not match letters that only look similar' }, async (rows) => {
    await saveNames(rows, ['Rene', 'René', 'Strasse', 'Straße', 'Oystein', 'Øystein', 'Ren\u0065\u0301'])
    await findsAll(rows, [['rene', [1, 7]], ['rené', [2]], ['strasse', [3]], ['straße', [4]], ['oy', [5]], ['øy', [6]]])
  }),

  rowCases({ port: 'list', name: 'q matches wildcards, quotes and backslashes literally' }, async (rows) => {
    await saveNames(rows, [
      '100%',
      '100 percent',
      'a_b',
      'axb',
      'back\\slash',
      "O'Neil",
      'say "hi"',
      'a*b',
      '[x]',
      'a.b',
      '$1',
      'C:\\%'
    ])
    await findsAll(rows, [
      ['%', [1, 12]],
      ['0%', [1]],
      ['%0', []],
      ['_', [3]],
      ['a_b', [3]],
      ['\\', [5, 12]],
      ['k\\s', [5]],
      ['\\%', [12]],
      ['\\_', []],
      ["'", [6]],
      ["' or '1'='1", []],
      ['"', [7]],
      ['a*b', [8]],
      ['[x]', [9]],
      ['[', [9]],
      ['.*', []],
      ['a.b', [10]],
      ['$1', [11]],
      ['?', []]
    ])
  }),

  rowCases({ port: 'list', name: 'q may contain any characters, up to 200' }, async (rows) => {
    const long = 'x'.repeat(200)
    await saveNames(rows, ['a\u{1f600}b', 'a\u{1f601}b', long, `${long}y`, 'ab', 'tab\there'])
    await findsAll(rows, [
      ['\u{1f600}', [1]],
      ['a\u{1f601}b', [2]],
      [long, [3, 4]],
      [`${'x'.repeat(199)}y`, [4]],
      ['b\th', [6]]
    ])
  })
].flat()
