import { once } from 'node:events'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import tsBlankSpace from 'ts-blank-space'
import t from 'tap'
import { createDocsServer } from '../../scripts/docs/server.js'
import { fillTables, listPages } from '../../scripts/tables/pages.js'
import { readMembers } from '../../scripts/tables/members.js'
import { tables } from '../../scripts/tables/tables.js'
import { optionTables } from '../../scripts/tables/options.js'
import { wireErrors } from '../../src/http/wire-errors.js'

t.test('npm run docs lists every page for its menu and its search, and shows nothing but the pages and what they link to', async (t) => {
  const docsify = t.testdir({ dist: { 'docsify.min.js': 'built' }, 'package.json': '{}' })
  const server = await createDocsServer(`${docsify}/dist`)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`)
  const read = async (path: string): Promise<string> => (await get(path)).text()

  const [index, menu] = [await read('/'), await read('/docs/_sidebar.md')]
  const routes = [...menu.matchAll(/^- \[.+\]\((.*)\.md\)$/gm)].map(([, route = '']) => route)
  t.equal(routes.length, (await listPages()).length)
  t.match(index, `"paths":${JSON.stringify(routes)}`)
  for (const route of routes) t.match(await read(`${route}.md`), /^# /, route)
  t.equal(await read('/docsify/docsify.min.js'), 'built')
  t.match(await read('/examples/grafana'), 'alerts.yaml', 'the names in a folder')
  for (const path of ['/package.json', '/docs/%2e%2e%2fpackage.json', '/docsify/..%2fpackage.json', '/docs/none.md', '/docs-other']) t.equal((await get(path)).status, 404, path)
})

const root = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')
const pages = ['README.md', ...readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]

t.test('the quick start of the README is two examples that are compiled and run', async (t) => {
  const readme = await read('README.md')
  t.ok(readme.includes(`\`\`\`ts\n${await read('examples/01-quick-start.ts')}\`\`\``))
  t.match(readme, 'cp node_modules/fastify-recruiting-api/examples/01-receiver.ts receiver.mts')
})

/** Whether the lines of a snippet are lines of an example, in this order, whatever stands between and before them. */
function isExcerpt (snippet: string, example: string): boolean {
  const lines = example.split('\n').map((line) => line.trim())
  let position = -1
  return snippet.trim().split('\n').map((line) => line.trim()).filter((line) => line !== '').every((line) => {
    position = lines.indexOf(line, position + 1)
    return position >= 0
  })
}

/** Returns an example as JavaScript, with the spaces of somebody who never wrote types. */
function removeTypes (example: string): string {
  return tsBlankSpace(example).replaceAll(/(?<=\S);? +(?=[,)]|$)/gm, '').replaceAll(/(?<=\S) +/g, ' ')
}

t.test('every snippet of TypeScript in the README and the pages is from an example, and a test runs each example', async (t) => {
  const names = (await readdir(new URL('examples/', root))).filter((name) => name.endsWith('.ts'))
  const typed = await Promise.all([...names, 'mirror/sync.ts'].map((name) => read(`examples/${name}`)))
  // Some pages show an example without its types.
  const examples = typed.flatMap((text) => [text, removeTypes(text)])
  // The snippets of these two are compiled and run as a whole.
  for (const page of pages.filter((path) => !['docs/adapters.md', 'docs/transactions.md'].includes(path))) {
    for (const [, snippet = ''] of (await read(page)).matchAll(/^```(?:ts|js|javascript|typescript)\n(.*?)^```$/gms)) {
      t.ok(examples.some((example) => isExcerpt(snippet, example)), `${page}: ${snippet}`)
    }
  }
  const tests = await readdir(new URL('test/examples/', root), { recursive: true })
  const run = (await Promise.all(tests.filter((name) => name.endsWith('.test.ts')).map((name) => read(`test/examples/${name}`)))).join('')
  for (const name of names) t.match(run, `runExample(t, '${name}'`, name)
})

/** The targets of a page's links and pictures that are files of the project, each with the heading that it names, or ''. */
async function readLinks (page: string): Promise<Array<{ path: string, heading: string }>> {
  const targets = [...(await read(page)).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !target.startsWith('http')).map((target) => {
    const { pathname, hash } = new URL(target, new URL(page, 'file:///'))
    return { path: pathname.slice(1), heading: hash.slice(1) }
  })
}

/** The names that GitHub gives the headings of a page. */
function headingsOf (text: string): string[] {
  const headings = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)]
  return headings.map(([, heading = '']) => heading.toLowerCase().replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-'))
}

t.test('every file that a page points to is in the repository, and every heading on its page', async (t) => {
  for (const page of [...pages, 'CHANGELOG.md', 'SECURITY.md', 'RELEASING.md']) {
    for (const { path, heading } of await readLinks(page)) {
      t.ok(existsSync(new URL(path, root)), `${page} points to ${path}`)
      if (heading !== '') t.ok(headingsOf(await read(path)).includes(heading), `${page} points to ${path}#${heading}`)
    }
  }
})

t.test('the package has the code, the pages that npm shows, and the examples of its commands and its README', async (t) => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: root })
  const [{ files }] = JSON.parse(stdout) as [{ files: Array<{ path: string, size: number }> }]
  const others = files.map(({ path }) => path.replace(/^(dist|src\/postgres|examples\/ats)\/.*/, '$1/'))
  t.strictSame([...new Set(others)].filter((path) => path !== 'dist/').sort(), [
    'CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'examples/01-quick-start.ts', 'examples/01-receiver.ts', 'examples/ats/',
    'openapi.json', 'package.json', 'src/postgres/'
  ])
  t.strictSame(files.filter(({ path, size }) => size > 500_000 || /package-lock|\.(db|sqlite)$|node_modules/.test(path)), [], 'nothing that a host has no use for')
})

t.test('every path of the repository that a page or an example names is there', async (t) => {
  const examples = (await readdir(new URL('examples/', root), { recursive: true })).filter((name) => /\.(ts|yaml)$/.test(name))
  for (const page of [...pages, 'SECURITY.md', 'RELEASING.md', ...examples.map((name) => `examples/${name}`)]) {
    const text = await read(page)
    const paths = text.match(/(?<![\w./-])(?:src|test|examples|bench|scripts|docs|\.ci)\/[\w./-]*[\w/](?![\w*-])/g) ?? []
    for (const path of new Set(paths)) t.ok(existsSync(new URL(path, root)), `${page} names ${path}`)
  }
  const inDiagrams = (await read('docs/architecture.md')).match(/(?<![\w./-])(?:http|events|queue|sending|ssrf)\/[\w/-]+\.ts/g) ?? []
  t.ok(inDiagrams.length > 10)
  for (const path of inDiagrams) t.ok(['src/', 'src/webhooks/'].some((room) => existsSync(new URL(`${room}${path}`, root))), path)
})

t.test('every message of the log that docs/operations.md explains is in the code', async (t) => {
  const [, table = ''] = (await read('docs/operations.md')).split('| message | level | what to do |\n|---|---|---|\n')
  const messages = [...table.split('\n\n', 1).join('').matchAll(/^\| (.*?) \| /gm)].map(([, message = '']) => message)
  const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const code = (await Promise.all(files.map((name) => read(`src/${name}`)))).join('')
  t.ok(messages.length > 10)
  const texts = code.replaceAll(/\$\{[^}]*\}/g, '…')
  for (const message of messages) t.ok(["'", '`'].some((quote) => texts.includes(`${quote}${message}${quote}`)), message)
})

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
  const parts: Record<string, string[]> = { RecruitingApiOptions: ['ApiOptions', 'HttpOptions'], RecruitingOptions: ['EngineOptions', 'SharedOptions', 'EventsOption'] }
  const shown = Object.entries(optionTables).filter(([table]) => page.includes(`<!-- table ${table}, `)).flatMap(([, interfaces]) => interfaces)
  t.ok(exported.length > 8)
  for (const name of exported.flatMap((one) => parts[one] ?? [one])) {
    t.ok(shown.some(([, shownName]) => shownName === name), name)
  }
})

t.test('the members of an interface are read with their comments, and the tags of these apart', async (t) => {
  const members = await readMembers('src/http/options/openapi.ts', 'OpenApiOptions')
  t.same(members.map(({ name }) => name), ['info', 'servers', 'inHostDocument'])
  t.same(members.at(-1), {
    name: 'inHostDocument',
    text: "Whether the API's paths are also in the document that `@fastify/swagger` creates for the host.",
    defaultText: 'false',
    isOptional: true
  })
})

t.test('members without a comment, and a name that is none of these, are errors', async (t) => {
  await t.rejects(readMembers('src/http/document/document.ts', 'DocumentSettings'), { message: /openapi of DocumentSettings has no doc comment/ })
  for (const name of ['Nothing', 'RecruitingApiError', 'kBrand', 'isRecruitingApiError']) {
    await t.rejects(readMembers('src/errors.ts', name), { message: `src/errors.ts has no interface, union or constant object ${name}` })
  }
})
