import { same } from '../support/expect.js'
import { exactFilterCases, resourceCase, rowCases, type Rows } from './rows.js'

type Filter = NonNullable<Parameters<Rows['count']>[0]>

/** Checks the rows that pass each filter, and their number. */
async function passes (rows: Rows, expected: ReadonlyArray<readonly [filter: Filter, ids: readonly number[]]>) {
  for (const [filter, ids] of expected) {
    same(await rows.ids({ filter }), ids, `the rows with ${JSON.stringify(filter)}`)
    same(await rows.count(filter), ids.length, `the number of rows with ${JSON.stringify(filter)}`)
  }
}

/** Values of rows that an exact filter must distinguish, and values that no row has. */
const exactValues = {
  id: { present: [1, 12, null, 1, 9_007_199_254_740_991], absent: [2, 9_007_199_254_740_990] },
  text: {
    present: ['published', 'Published', 'publishéd', 'published ', 'draft', 'on_hold', 'onxhold', 'x'.repeat(64)],
    absent: ['publish', '%', 'PUBLISHED', ' draft']
  }
}

/** Cases about all filters except `q`. */
export const filterCases = [
  exactFilterCases((resource, filter) => {
    const { name, field, test } = filter
    const title = test === 'id' ? `${name} selects the ${resource} of one ${filter.id}` : `${name} is compared exactly`
    return [resourceCase(resource, 'list', title, async (rows) => {
      const { present, absent } = exactValues[test]
      await rows.save(present.map((value, index) => ({ id: index + 1, [field]: value })))
      for (const wanted of [...present, ...absent].filter((value) => value !== null)) {
        const ids = present.flatMap((value, index) => value === wanted ? [index + 1] : [])
        const what = `${resource} with ${name} ${JSON.stringify(wanted)}`
        same(await rows.ids({ filter: { [name]: wanted } }), ids, `the ${what}`)
        same(await rows.count({ [name]: wanted }), ids.length, `the number of ${what}`)
      }
    })]
  }),

  rowCases('list', 'updatedAfter selects rows updated strictly later', async (rows) => {
    const dates = [
      '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-06-01T00:00:00.000Z'
    ]
    const created = { created_at: '2020-01-01T00:00:00.000Z' }
    await rows.save(dates.map((date, index) => ({ ...created, id: index + 1, updated_at: date })))
    const later: Array<[date: string, ids: number[]]> = [
      ['2020-01-01T00:00:00.000Z', [1, 2, 3, 4]], ['2025-12-31T23:59:59.998Z', [1, 2, 3, 4]],
      ['2025-12-31T23:59:59.999Z', [2, 3, 4]], ['2026-01-01T00:00:00.000Z', [3, 4]],
      ['2026-01-01T00:00:00.001Z', [4]], ['2026-06-01T00:00:00.000Z', []],
      ['0001-01-01T00:00:00.000Z', [1, 2, 3, 4]], ['9999-12-31T23:59:59.999Z', []]
    ]
    await passes(rows, later.map(([updatedAfter, ids]) => [{ updatedAfter }, ids]))
  }),

  rowCases('list', 'updatedAfter compares whole milliseconds', async (rows) => {
    const dates = ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123999Z', '2026-01-01T00:00:00.124001Z']
    await rows.save(dates.map((date, index) => ({ id: index + 1, updated_at: date })))
    await passes(rows, [
      [{ updatedAfter: '2026-01-01T00:00:00.122Z' }, [1, 2, 3]],
      [{ updatedAfter: '2026-01-01T00:00:00.123Z' }, [3]],
      [{ updatedAfter: '2026-01-01T00:00:00.124Z' }, []]
    ])
  }),

  rowCases('list', 'a row must match all filters', async (rows) => {
    const exact = rows.exactFilters.map(({ name, field, test }) => ({ name, field, values: exactValues[test].present }))
    const wanted = Object.fromEntries(exact.map(({ field, values }) => [field, values[0]]))
    const passing = { name: 'Baker', ...wanted, updated_at: '2026-01-02T00:00:00.000Z' }
    const others = [
      { ...passing, name: 'Welder' }, { ...passing, updated_at: '2026-01-01T00:00:00.000Z' },
      ...exact.map(({ field, values }) => ({ ...passing, [field]: values[1] }))
    ]
    await rows.save([passing, ...others].map((row, index) => ({ ...row, id: index + 1 })))
    const filter = Object.fromEntries(exact.map(({ name, values }) => [name, values[0]]))
    await passes(rows, [
      [{ q: String(passing.name).slice(0, 3), ...filter, updatedAfter: '2026-01-01T00:00:00.000Z' }, [1]],
      [{}, [passing, ...others].map((_row, index) => index + 1)]
    ])
  })
].flat()

const long = 'x'.repeat(200)

/** Statements about `q`: the names of the rows 1, 2 and so on, and the rows that each text finds. */
const searches: ReadonlyArray<[statement: string, names: string[], found: Array<[q: string, ids: number[]]>]> = [
  ['q finds its text anywhere in the name', ['Ana Costa', 'Costas Vana', 'Bo', 'an a'], [
    ['Ana', [1, 2]], ['a c', [1]], ['costa', [1, 2]], ['o', [1, 2, 3]], ['n a', [4]], ['nobody', []]
  ]],
  ['q ignores case, even beyond ASCII', ['René', 'RENÉ', 'Ωmega', 'ОЛЬГА', 'ørsted', 'Đurić'], [
    ['rené', [1, 2]], ['RENÉ', [1, 2]], ['É', [1, 2]], ['é', [1, 2]], ['ωM', [3]], ['ольга', [4]], ['Ø', [5]],
    ['đURIĆ', [6]]
  ]],
  ['q treats all lower-case forms of a letter as equal', [
    'Νίκος', 'ΝΊΚΟΣ', 'νίκοσ', 'Κωστας Β', 'ΚΩΣΤΑΣ', 'Weiß', 'WEIẞ', '\u212Berg', 'Åerg'
  ], [
    ['νίκος', [1, 2, 3]], ['ΝΊΚΟΣ', [1, 2, 3]], ['νίκοσ', [1, 2, 3]], ['κωσ', [4, 5]], ['ΑΣ Β', [4]],
    ['Σ', [1, 2, 3, 4, 5]], ['ß', [6, 7]], ['ẞ', [6, 7]], ['å', [8, 9]]
  ]],
  ['q does not match letters that only look similar', [
    'Rene', 'René', 'Strasse', 'Straße', 'Oystein', 'Øystein', 'Ren\u0065\u0301'
  ], [['rene', [1, 7]], ['rené', [2]], ['strasse', [3]], ['straße', [4]], ['oy', [5]], ['øy', [6]]]],
  ['q matches wildcards, quotes and backslashes literally', [
    '100%', '100 percent', 'a_b', 'axb', 'back\\slash', "O'Neil", 'say "hi"', 'a*b', '[x]', 'a.b', '$1', 'C:\\%'
  ], [
    ['%', [1, 12]], ['0%', [1]], ['%0', []], ['_', [3]], ['a_b', [3]], ['\\', [5, 12]], ['k\\s', [5]], ['\\%', [12]],
    ['\\_', []], ["'", [6]], ["' or '1'='1", []], ['"', [7]], ['a*b', [8]], ['[x]', [9]], ['[', [9]], ['.*', []],
    ['a.b', [10]], ['$1', [11]], ['?', []]
  ]],
  ['q can contain any characters, up to 200', [
    'a\u{1f600}b', 'a\u{1f601}b', long, `${long}y`, 'ab', 'tab\there'
  ], [['\u{1f600}', [1]], ['a\u{1f601}b', [2]], [long, [3, 4]], [`${'x'.repeat(199)}y`, [4]], ['b\th', [6]]]]
]

/** Cases about `q`. */
export const searchCases = searches.flatMap(([statement, names, found]) =>
  rowCases('list', statement, async (rows) => {
    await rows.save(names.map((name, index) => ({ id: index + 1, name })))
    await passes(rows, found.map(([q, ids]) => [{ q }, ids]))
  }))
