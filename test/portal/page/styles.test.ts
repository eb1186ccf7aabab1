import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'

const folder = new URL('../../../src/portal/page/styles/', import.meta.url)

t.test('a class has its look from one file, so that screens do not change each other', (t) => {
  const owners = new Map<string, string[]>()
  for (const file of readdirSync(folder)) {
    const classes = readFileSync(new URL(file, folder), 'utf8').matchAll(/^\.([\w-]+)(?=,| \{)/gm)
    for (const name of new Set([...classes].map(([, name = '']) => name))) owners.set(name, [...owners.get(name) ?? [], file])
  }
  t.ok(owners.size > 50)
  t.strictSame([...owners].filter(([, files]) => files.length > 1), [])
  t.end()
})
