import { same } from '../support/expect.js'
import { rowCases } from './rows.js'
import type { Rows } from './rows.js'

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
