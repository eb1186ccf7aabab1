import t from 'tap'
import { memoryStorage } from '../../src/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { fetchIds, requestList } from '../fixtures/api/lists.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const names = [
  'Ada Lovelace', 'ADA LOVELACE', 'René Élan', 'RENÉ ÉLAN', 'Rene Elan', '100% Wool', '100 Wool', 'a_b', 'aXb', 'back\\slash', 'back/slash',
  'Жанна', 'ЖАННА', 'Łukasz', 'łukasz', 'O\'Brien "Bob"', '李小龙', '😀 Smiley', '[a-z]*', '(.*)', '+plus&amp=', 'Ünal'
]

const rows = names.map((name, index) => ({ id: index + 1, name }))
const storage = memoryStorage({
  tenants: {
    acme: {
      candidates: rows.map(({ id, name }) => ({ id, full_name: name, headline: 'Ada Lovelace 100%' })),
      jobs: rows.map(({ id, name }) => ({ id, name, status: 'Ada Lovelace 100%' }))
    }
  }
})

/** What a search finds, by the names above. */
const searches: Array<[text: string, found: string[]]> = [
  ['ada', ['Ada Lovelace', 'ADA LOVELACE']],
  ['ADA', ['Ada Lovelace', 'ADA LOVELACE']],
  ['a l', ['Ada Lovelace', 'ADA LOVELACE']],
  ['Ada Lovelace', ['Ada Lovelace', 'ADA LOVELACE']],
  ['Ada  Lovelace', []],
  ['  ada  ', ['Ada Lovelace', 'ADA LOVELACE']],
  ['\tada\n', ['Ada Lovelace', 'ADA LOVELACE']],
  ['é', ['René Élan', 'RENÉ ÉLAN']],
  ['É', ['René Élan', 'RENÉ ÉLAN']],
  ['rené é', ['René Élan', 'RENÉ ÉLAN']],
  ['жанна', ['Жанна', 'ЖАННА']],
  ['ŁUK', ['Łukasz', 'łukasz']],
  ['ü', ['Ünal']],
  ['%', ['100% Wool']],
  ['100% w', ['100% Wool']],
  ['0%0', []],
  ['_', ['a_b']],
  ['a_b', ['a_b']],
  ['____', []],
  ['\\', ['back\\slash']],
  ['k\\s', ['back\\slash']],
  ['\\%', []],
  ['\\_', []],
  ['/', ['back/slash']],
  ['.*', ['(.*)']],
  ['[a-z]', ['[a-z]*']],
  ['*', ['[a-z]*', '(.*)']],
  ['o\'brien "', ['O\'Brien "Bob"']],
  ["' or 1=1 --", []],
  ['小', ['李小龙']],
  ['😀', ['😀 Smiley']],
  ['+plus&amp=', ['+plus&amp=']],
  ['logician', []],
  ['x'.repeat(200), []],
  ['😀'.repeat(200), []],
  [` ${'é'.repeat(200)} `, []]
]

for (const list of ['candidates', 'jobs']) {
  t.test(`${list}: a search finds a literal part of the name in any letter case, and looks nowhere else`, async (t) => {
    const app = await buildApp(t, { storage })
    for (const [text, found] of searches) {
      const ids = await fetchIds(app, list, `per_page=200&filter[q]=${encodeURIComponent(text)}`)
      t.same(ids.map((id) => names[id - 1]), found, `"${text.slice(0, 20)}"`)
    }
  })

  t.test(`${list}: a blank search counts as absent`, async (t) => {
    const app = await buildApp(t, { storage })
    for (const query of ['filter[q]=', 'filter[q]', 'filter[q]=%20', 'filter[q]=+++', 'filter[q]=%09%0A%0D', 'filter[q]=%C2%A0', 'filter[q]=%E3%80%80']) {
      t.equal((await fetchIds(app, list, `per_page=200&${query}`)).length, names.length, query)
    }
    t.equal((await fetchIds(app, list, `per_page=200&filter[q]=${'%20'.repeat(300)}`)).length, names.length, 'three hundred blanks')
  })

  t.test(`${list}: a search of more than 200 characters gets 400`, async (t) => {
    const app = await buildApp(t, { storage })
    for (const text of ['x'.repeat(201), 'é'.repeat(201), '😀'.repeat(201), ` ${'x'.repeat(201)} `, 'x'.repeat(5000)]) {
      checkError(t, await requestList(app, list, `filter[q]=${encodeURIComponent(text)}`), 400, text.slice(0, 3))
    }
  })
}

t.test('the storage receives the trimmed text, and nothing for a blank one', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  await requestList(app, 'candidates', 'filter[q]=%20Ada%20%20L%20')
  await requestList(app, 'jobs', 'filter[q]=%20')
  t.same(calls.filter(({ method }) => method.endsWith('.count')).map(({ args }) => args[1]), [{ q: 'Ada  L' }, {}])
})
