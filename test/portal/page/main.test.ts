import { readFileSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { languages } from '../../../src/portal/messages/index.js'

t.test('script and style take at most 40 KB gzipped together', async (t) => {
  const files = await Promise.all(['portal.js', 'portal.css'].map((name) => readFile(new URL(`../../../dist/portal/${name}`, import.meta.url))))
  const size = files.reduce((total, file) => total + gzipSync(file).length, 0)
  t.ok(size > 10_000 && size <= 40 * 1024, `${size} bytes`)
})

t.test('the texts of each language take at most 8 KB gzipped', (t) => {
  for (const [locale, messages] of Object.entries(languages)) {
    const size = gzipSync(JSON.stringify(messages)).length
    t.ok(size > 2_000 && size <= 8 * 1024, `${locale}: ${size} bytes`)
  }
  t.end()
})

const folder = new URL('../../../src/portal/page/', import.meta.url)

t.test('a class has its look from one file, so that screens do not change each other', (t) => {
  const owners = new Map<string, string[]>()
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.css'))) {
    const classes = readFileSync(new URL(file, folder), 'utf8').matchAll(/^\.([\w-]+)(?=,| \{)/gm)
    for (const name of new Set([...classes].map(([, name = '']) => name))) owners.set(name, [...owners.get(name) ?? [], file])
  }
  t.ok(owners.size > 50)
  t.strictSame([...owners].filter(([, files]) => files.length > 1), [])
  t.end()
})
