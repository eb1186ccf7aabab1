import { readFile } from 'node:fs/promises'
import t from 'tap'

const root = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')

t.test('the quick start of the README is the example that is compiled and run', async (t) => {
  const example = await read('examples/01-quick-start.ts')
  t.ok((await read('README.md')).includes(`\`\`\`ts\n${example}\`\`\``))
})

t.test('every file that the README and the pages point to is there', async (t) => {
  for (const page of ['README.md', 'docs/contract.md', 'docs/webhooks.md', 'docs/operations.md']) {
    const links = [...(await read(page)).matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map(([, target = '']) => target)
    for (const target of links.filter((link) => !link.startsWith('http'))) {
      await t.resolves(readFile(new URL(target, new URL(page, root))), `${page} points to ${target}`)
    }
  }
})

t.test('every option of the plugin and of delivery is in the README', async (t) => {
  const readme = await read('README.md')
  const options = await read('src/options.ts')
  const names = [...options.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name)
  t.ok(names.length > 20)
  for (const name of names) t.match(readme, new RegExp(`\`${name}\``), String(name))
})
