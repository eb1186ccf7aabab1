import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readMembers } from '../../scripts/tables/members.js'
import { fillTables, listPages } from '../../scripts/tables/pages.js'
import { tables } from '../../scripts/tables/tables.js'
import { optionTables } from '../../scripts/tables/options.js'
import { wireErrors } from '../../src/http/wire-errors.js'

t.test('the tables of the README and the pages are what the code says; npm run tables writes them', async (t) => {
  for (const page of await listPages()) {
    const text = await readFile(page, 'utf8')
    t.equal(await fillTables(text), text, page.pathname)
  }
})

t.test('a table has the values and the comments of the code', async (t) => {
  const marker = (name: string): string => `<!-- table ${name}, written by npm run tables -->\n`
  const end = '<!-- end of table -->\n'
  const page = await fillTables(`# A page\n\n${marker('host-errors')}old\n${end}\nText\n\n${marker('api-errors')}${end}`)
  t.match(page, '| code | when |\n|---|---|\n| `invalid_option` | ')
  t.match(page, '\n| 403 | `forbidden` | API key does not have required scope | The key lacks a scope. |\n')
  for (const code of Object.keys(wireErrors)) t.match(page, `| \`${code}\` | `)
  t.notMatch(page, /old/)
  t.match(page, /^# A page\n\n[^]*\nText\n/)
})

t.test('a table that does not exist is an error that names those that do', async (t) => {
  await t.rejects(fillTables('<!-- table errors, written by npm run tables -->\n<!-- end of table -->'), {
    message: 'unknown table errors, expected one of '.concat(Object.keys(tables).join(', '))
  })
})

t.test('a table of options has their defaults, values as code, and names those that are required', async (t) => {
  const [, , ...rows] = (await tables['rate-limit-options']?.() ?? '').split('\n')
  t.match(rows.join('\n'), '| `cache` | `5000` | ')
  t.match(rows.join('\n'), '| `redis` | none | ')
  t.match(await tables['openapi-server']?.(), '| `url` | required | ')
})

t.test('docs/options.md has a table for every type of options that the package exports', async (t) => {
  const page = await readFile(new URL('../../docs/options.md', import.meta.url), 'utf8')
  const entryPoints = ['index', 'memory/index', 'postgres/index', 'testing/index']
  const texts = await Promise.all(entryPoints.map((path) => readFile(new URL(`../../src/${path}.ts`, import.meta.url), 'utf8')))
  const exported = texts.flatMap((text) => text.match(/\w+Options\b/g) ?? []).filter((name) => name !== 'EmitOptions')
  // Two types that are put together from interfaces.
  const parts: Record<string, string[]> = { RecruitingApiOptions: ['ApiOptions'], RecruitingOptions: ['EngineOptions', 'EventsOption'] }
  const shown = Object.entries(optionTables).filter(([table]) => page.includes(`<!-- table ${table}, `)).flatMap(([, interfaces]) => interfaces)
  t.ok(exported.length > 8)
  for (const name of exported.flatMap((one) => parts[one] ?? [one])) {
    t.ok(shown.some(([, shownName]) => shownName === name), name)
  }
})

t.test('the members of an interface are read with their comments, and the tags of these apart', async (t) => {
  const members = await readMembers('src/options/openapi.ts', 'OpenApiOptions')
  t.same(members.map(({ name }) => name), ['info', 'servers', 'inHostDocument'])
  t.same(members.at(-1), {
    name: 'inHostDocument',
    text: "Whether the API's paths are also in the document that `@fastify/swagger` creates for the host.",
    defaultText: 'false',
    isOptional: true
  })
})

t.test('members without a comment, and a name that is none of these, are errors', async (t) => {
  await t.rejects(readMembers('src/http/settings.ts', 'OpenApiSettings'), { message: /info of OpenApiSettings has no doc comment/ })
  for (const name of ['Nothing', 'RecruitingApiError', 'kBrand', 'isRecruitingApiError']) {
    await t.rejects(readMembers('src/errors.ts', name), { message: `src/errors.ts has no interface, union or constant object ${name}` })
  }
})
