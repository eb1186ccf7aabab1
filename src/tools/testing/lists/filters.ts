import { same } from '../support/expect.js'
import type { FieldType } from '../../../core/ports/index.js'
import type { StorageCase } from '../support/case.js'
import { filterCasesOf, resourceCase, rowCases, type Rows } from './rows.js'

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

/** Times of rows by ascending id, and the rows that are later than each time. */
const times = {
  present: [
    '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-01T00:00:00.123456Z',
    '2026-01-01T00:00:00.123999Z', '2026-06-01T00:00:00.000Z'
  ],
  absent: ['2025-12-31T23:59:59.998Z', '2026-01-01T00:00:00.124Z', '0001-01-01T00:00:00.000Z'],
  later: [
    ['2020-01-01T00:00:00.000Z', [1, 2, 3, 4, 5, 6]], ['2025-12-31T23:59:59.998Z', [1, 2, 3, 4, 5, 6]],
    ['2025-12-31T23:59:59.999Z', [2, 3, 4, 5, 6]], ['2026-01-01T00:00:00.000Z', [3, 4, 5, 6]],
    ['2026-01-01T00:00:00.122Z', [4, 5, 6]], ['2026-01-01T00:00:00.123Z', [6]],
    ['2026-06-01T00:00:00.000Z', []], ['0001-01-01T00:00:00.000Z', [1, 2, 3, 4, 5, 6]],
    ['9999-12-31T23:59:59.999Z', []]
  ] as Array<[value: string, ids: number[]]>
}

/** Values of own fields that a condition must distinguish, and values that no row has. */
const ownValues = {
  text: {
    present: [
      'ada@example.org', 'Ada@example.org', 'adá@example.org', "o'neil", '\u{1f600}', '\uffff', 'ada@example.org'
    ],
    absent: ['ada', '%', 'ADA@EXAMPLE.ORG', 'x'.repeat(255), 'null']
  },
  integer: { present: [0, -5, 7, 10, 7], absent: [1, 9_007_199_254_740_991, -9_007_199_254_740_991] },
  boolean: { present: [true, false, true], absent: [] }
} satisfies Record<Exclude<FieldType, 'time'>, { present: Value[], absent: Value[] }>

type Value = string | number | boolean

/** Returns the value of the condition that a field with this value passes. */
const toCondition = (type: FieldType, value: Value): Value =>
  type === 'time' ? new Date(String(value)).toISOString() : value

/** Compares text by code point, as UTF-8 does. */
function compare (one: Value, other: Value): number {
  if (typeof one !== 'string' || typeof other !== 'string') return Number(one) - Number(other)
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Creates a case for each type of own field, which passes if the harness has no such field. */
function ownCases (
  name: string, body: (rows: Rows, type: FieldType, field: string) => Promise<void>
): StorageCase[] {
  return (['text', 'integer', 'boolean', 'time'] as const).flatMap((type) =>
    rowCases('list', `${name}: ${type}`, async (rows) => {
      const field = rows.ownFields[type]
      if (field !== undefined) await body(rows, type, field)
    }))
}

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

export const filterCases = [
  // About all filters except `q`.
  filterCasesOf(['id', 'text'], (resource, filter) => {
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

  filterCasesOf(['after'], (resource, { name, field }) => [
    resourceCase(resource, 'list', `${name} selects rows with a strictly later ${field}`, async (rows) => {
      const other = { created_at: '2020-01-01T00:00:00.000Z', updated_at: '2020-01-01T00:00:00.000Z' }
      await rows.save(times.present.map((value, index) => ({ ...other, id: index + 1, [field]: value })))
      await passes(rows, times.later.map(([value, ids]) => [{ [name]: value }, ids]))
    })
  ]),

  ownCases('a condition of an own field is compared exactly', async (rows, type, field) => {
    const { present, absent } = type === 'time' ? { present: times.present, absent: times.absent } : ownValues[type]
    await rows.save(present.map((value, index) => ({ id: index + 1, own: { [field]: value } })))
    for (const value of [...present, ...absent].map((one) => toCondition(type, one))) {
      const ids = present.flatMap((one, index) => toCondition(type, one) === value ? [index + 1] : [])
      await passes(rows, [[{ own: [{ field, test: type, value }] }, ids]])
    }
    const both = present.slice(0, 2).map((value) => ({ field, test: type, value: toCondition(type, value) }))
    await passes(rows, [[{ own: both }, []]])
    same(await rows.count({ own: both.slice(0, 1) }, 'globex'), 0, 'the number of rows of globex')
    if (type === 'time') {
      await passes(rows, times.later.map(([value, ids]) => [{ own: [{ field, test: 'after', value }] }, ids]))
    }
  }),

  ownCases('rows are sorted by an own field', async (rows, type, field) => {
    const values = type === 'time' ? times.present : ownValues[type].present
    const sorted = values.map((value, index) => ({ value, id: index + 1 }))
      .toSorted((one, other) => compare(one.value, other.value) || one.id - other.id)
    await rows.save(values.map((value, index) => ({ id: index + 1, own: { [field]: value } })))
    same(await rows.ids({ sort: [field, 'id'], type }), sorted.map(({ id }) => id), `the rows by ${field}`)
    same(
      await rows.ids({ sort: [`-${field}`, '-id'], type }), sorted.toReversed().map(({ id }) => id),
      `the rows by ${field}, descending`
    )
  }),

  rowCases('list', 'a row must match all filters', async (rows) => {
    const exact = rows.exactFilters.map(({ name, field, test }) => ({ name, field, values: exactValues[test].present }))
    const wanted = Object.fromEntries(exact.map(({ field, values }) => [field, values[0]]))
    const [before, after] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
    const later = Object.fromEntries(rows.afterFilters.map(({ field }) => [field, after]))
    const passing = { name: 'Baker', ...wanted, ...later }
    const others = [
      { ...passing, name: 'Welder' }, ...rows.afterFilters.map(({ field }) => ({ ...passing, [field]: before })),
      ...exact.map(({ field, values }) => ({ ...passing, [field]: values[1] }))
    ]
    await rows.save([passing, ...others].map((row, index) => ({ ...row, id: index + 1 })))
    const filter = Object.fromEntries([
      ...exact.map(({ name, values }) => [name, values[0]]), ...rows.afterFilters.map(({ name }) => [name, before])
    ])
    await passes(rows, [
      [{ q: String(passing.name).slice(0, 3), ...filter }, [1]],
      [{}, [passing, ...others].map((_row, index) => index + 1)]
    ])
  }),

  // About `q`.
  ...searches.flatMap(([statement, names, found]) =>
    rowCases('list', statement, async (rows) => {
      await rows.save(names.map((name, index) => ({ id: index + 1, name })))
      await passes(rows, found.map(([q, ids]) => [{ q }, ids]))
    }))
].flat()
