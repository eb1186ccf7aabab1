import { readFileSync } from 'node:fs'
import t from 'tap'
import { runMatrix } from './matrix.js'

t.test('the snippets in docs/transactions.md are compiled', async (t) => {
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
  const snippets = [...read('../../docs/transactions.md').matchAll(/^```ts\n(await .*?)```$/gms)].map(([, code = '']) => code)
  const compiled = read('snippets.ts').replace(/^ {2}/gm, '')
  t.equal(snippets.length, 8)
  for (const snippet of snippets) t.ok(compiled.includes(snippet), snippet)
})

await runMatrix((name) => import(name))
