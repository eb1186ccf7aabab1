import { existsSync, readdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import tsBlankSpace from 'ts-blank-space'
import t from 'tap'
import { fillPage, listPages } from '../../scripts/tables/pages.js'
import type { OpenApi } from '../fixtures/api/document.js'
import { titleInDocument } from '../fixtures/api/routes.js'

const root = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')
const pages = ['README.md', ...readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]

t.test('the quick start in the README consists of two tested examples', async (t) => {
  const readme = await read('README.md')
  t.ok(readme.includes(`\`\`\`ts\n${await read('examples/01-quick-start.ts')}\`\`\``))
  t.match(readme, 'cp node_modules/fastify-recruiting-api/examples/01-receiver.ts receiver.mts')
})

/** Returns whether a snippet is an example without some of its lines. */
function isExcerpt (snippet: string, example: string): boolean {
  const lines = example.split('\n').map((line) => line.trim())
  let position = -1
  return snippet.trim().split('\n').map((line) => line.trim()).filter((line) => line !== '').every((line) => {
    position = lines.indexOf(line, position + 1)
    return position >= 0
  })
}

/** Returns an example as JavaScript, with the spacing of code that never had types. */
function removeTypes (example: string): string {
  return tsBlankSpace(example).replaceAll(/(?<=\S);? +(?=[,)]|$)/gm, '').replaceAll(/(?<=\S) +/g, ' ')
}

t.test('every code snippet in the docs is from an example, and each example is tested', async (t) => {
  const names = (await readdir(new URL('examples/', root))).filter((name) => name.endsWith('.ts'))
  const hosts = ['express', 'nest', 'plugin'].map((name) => `../.ci/hosts/tests/${name}.test.ts`)
  const typed = await Promise.all(
    [...names, '24-agent.mjs', 'mirror/sync.ts', 'ats/src/companies.ts', ...hosts].map((name) => read(`examples/${name}`))
  )
  // Some pages show an example without its types.
  const examples = typed.flatMap((text) => [text, removeTypes(text)])
  // The snippets on these two pages are compiled and run as a whole.
  for (const page of pages.filter((path) => !['docs/adapters.md', 'docs/transactions.md'].includes(path))) {
    for (const [, snippet = ''] of (await read(page)).matchAll(/^```(?:ts|js|javascript|typescript)\n(.*?)^```$/gms)) {
      t.ok(examples.some((example) => isExcerpt(snippet, example)), `${page}: ${snippet}`)
    }
  }
  const files = await readdir(new URL('test/all/', root), { recursive: true })
  const tests = files.filter((name) => name.endsWith('.test.ts'))
  const run = (await Promise.all(tests.map((name) => read(`test/all/${name}`)))).join('')
  for (const name of names) t.ok(run.includes(`'${name}'`), name)
})

/** Returns the files that a page's links and pictures point to, each with its heading or ''. */
async function readLinks (page: string): Promise<Array<{ path: string, heading: string }>> {
  const targets = [...(await read(page)).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !target.startsWith('http')).map((target) => {
    const { pathname, hash } = new URL(target, new URL(page, 'file:///'))
    return { path: pathname.slice(1), heading: hash.slice(1) }
  })
}

/** Returns the anchors that GitHub creates for the headings of a page. */
function headingsOf (text: string): string[] {
  const headings = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)]
  return headings.map(([, heading = '']) => heading.toLowerCase().replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-'))
}

t.test('every source file that a page names exists', async (t) => {
  const folders = ['src', 'test', 'examples', 'bench', 'scripts']
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true }).map((name) => `/${folder}/${String(name)}`))
  for (const page of pages) {
    for (const [, name] of (await read(page)).matchAll(/`([\w./-]+\.(?:tsx?|sql|css))`/g)) {
      t.ok(files.some((file) => file.endsWith(`/${name}`)), `${page} names ${name}`)
    }
  }
})

t.test('the contract names every operation of the document and every query parameter', async (t) => {
  const contract = await read('docs/contract.md')
  const { paths }: OpenApi = JSON.parse(await read('openapi.json'))
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { parameters }] of Object.entries(methods)) {
      const title = titleInDocument(method, path)
      t.ok(contract.includes(`\`${title}\``), title)
      for (const { in: place, name } of parameters) if (place === 'query') t.ok(contract.includes(name), name)
    }
  }
})

t.test('every log message in docs/running.md is in the source', async (t) => {
  const files = readdirSync(new URL('src/', root), { recursive: true }).map(String).filter((name) => name.endsWith('.ts'))
  const source = (await Promise.all(files.map((name) => read(`src/${name}`)))).join('\n')
  const [, table = ''] = (await read('docs/running.md')).split(/^## (?:Log messages|Errors of an attempt)$/m)
  const messages = [...table.matchAll(/^\| (.*?) \| (?:error|warn|info)/gm)].map(([, message = '']) => message)
  t.ok(messages.length > 20)
  for (const message of messages) {
    t.ok(message.split(/…|: |, /).every((part) => source.includes(part.trim())), message)
  }
})

t.test('every link to a file or heading of the repository works', async (t) => {
  for (const page of [...pages, 'CHANGELOG.md', 'SECURITY.md', 'RELEASING.md']) {
    for (const { path, heading } of await readLinks(page)) {
      t.ok(existsSync(new URL(path, root)), `${page} points to ${path}`)
      if (heading !== '') t.ok(headingsOf(await read(path)).includes(heading), `${page} points to ${path}#${heading}`)
    }
  }
})

t.test('every path of the repository in a page or an example exists', async (t) => {
  const examples = (await readdir(new URL('examples/', root), { recursive: true })).filter((name) => /\.(ts|yaml)$/.test(name))
  for (const page of [...pages, 'SECURITY.md', 'RELEASING.md', ...examples.map((name) => `examples/${name}`)]) {
    const text = await read(page)
    const paths = text.match(/(?<![\w./-])(?:src|test|examples|bench|scripts|docs|\.ci)\/[\w./-]*[\w/](?![\w*-])/g) ?? []
    for (const path of new Set(paths)) t.ok(existsSync(new URL(path, root)), `${page} names ${path}`)
  }
})

t.test('the generated tables and files in the docs are current; npm run tables writes them', async (t) => {
  for (const page of await listPages()) {
    const text = await readFile(page, 'utf8')
    t.equal(await fillPage(text), text, page.pathname)
  }
})
