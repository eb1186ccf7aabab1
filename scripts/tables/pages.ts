import { readdir, readFile } from 'node:fs/promises'
import { tables } from './tables.js'

const root = new URL('../../', import.meta.url)

/** Returns the README and every page of docs/. */
export async function listPages (): Promise<URL[]> {
  const names = (await readdir(new URL('docs/', root))).filter((name) => name.endsWith('.md'))
  return ['README.md', ...names.map((name) => `docs/${name}`)].map((path) => new URL(path, root))
}

const marked = /(<!-- table (\S+), written by npm run tables -->\n).*?(?=<!-- end of table -->)/gs

const guideFile = /^(`([\w.]+)`:\n\n```ts\n).*?(?=^```$)/gms

/** Replaces every table of a page, and every file of `examples/adapter`. Throws for an unknown table or file. */
export async function fillPage (page: string): Promise<string> {
  let filled = page
  for (const [block, marker = '', name = ''] of page.matchAll(marked)) {
    const write = tables[name]
    if (write === undefined) throw new Error(`unknown table ${name}, expected one of ${Object.keys(tables).join(', ')}`)
    const table = await write()
    filled = filled.replace(block, () => `${marker}\n${table}\n`)
  }
  for (const [block, marker = '', name = ''] of page.matchAll(guideFile)) {
    const file = await readFile(new URL(`examples/adapter/${name}`, root), 'utf8')
    filled = filled.replace(block, () => `${marker}${file}`)
  }
  return filled
}
