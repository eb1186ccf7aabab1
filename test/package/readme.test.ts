import { access, readFile, readdir } from 'node:fs/promises'
import t from 'tap'

const root = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')

t.test('the quick start of the README is the two examples that are compiled and run', async (t) => {
  const readme = await read('README.md')
  for (const name of ['01-quick-start', '01-receiver']) {
    const example = await read(`examples/${name}.ts`)
    t.ok(readme.includes(`\`\`\`ts\n${example}\`\`\``), name)
  }
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

t.test('every snippet of TypeScript in the README and the pages is from an example, and a test runs each example', async (t) => {
  const names = (await readdir(new URL('examples/', root))).filter((name) => name.endsWith('.ts'))
  const examples = await Promise.all(names.map((name) => read(`examples/${name}`)))
  for (const page of ['README.md', 'docs/contract.md', 'docs/webhooks.md', 'docs/operations.md']) {
    for (const [, snippet = ''] of (await read(page)).matchAll(/^```(?:ts|js|javascript|typescript)\n(.*?)^```$/gms)) {
      t.ok(examples.some((example) => isExcerpt(snippet, example)), `${page}: ${snippet}`)
    }
  }
  const tests = await readdir(new URL('test/examples/', root), { recursive: true })
  const run = (await Promise.all(tests.filter((name) => name.endsWith('.test.ts')).map((name) => read(`test/examples/${name}`)))).join('')
  for (const name of names) t.match(run, `runExample(t, '${name}'`, name)
})

t.test('every file that the README and the pages point to is there', async (t) => {
  for (const page of ['README.md', 'docs/adapters.md', 'docs/contract.md', 'docs/webhooks.md', 'docs/operations.md']) {
    const links = [...(await read(page)).matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map(([, target = '']) => target)
    for (const target of links.filter((link) => !link.startsWith('http'))) {
      await t.resolves(access(new URL(target, new URL(page, root))), `${page} points to ${target}`)
    }
  }
})

t.test('every option of the plugin, of delivery and of rate limits is in the README', async (t) => {
  const readme = await read('README.md')
  const files = ['src/options/recruiting.ts', 'src/options/api.ts', 'src/options/delivery.ts', 'src/options/rate-limit.ts']
  const options = (await Promise.all(files.map(read))).join('')
  const names = [...options.matchAll(/^ {2}(\w+)\?: /gm)].map(([, name]) => name)
  t.ok(names.length > 20)
  for (const name of names) t.match(readme, new RegExp(`\`${name}\``), String(name))
})
