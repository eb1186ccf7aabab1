import { readFile } from 'node:fs/promises'
import t from 'tap'
import { gzipSync } from 'node:zlib'

t.test('script and style take at most 40 KB gzipped together', async (t) => {
  const files = await Promise.all(['portal.js', 'portal.css'].map((name) => readFile(new URL(`../../../dist/portal/${name}`, import.meta.url))))
  const size = files.reduce((total, file) => total + gzipSync(file).length, 0)
  t.ok(size > 10_000 && size <= 40 * 1024, `${size} bytes`)
})
