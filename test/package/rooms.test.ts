import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const tests = fileURLToPath(new URL('../', import.meta.url))

t.test('every folder with test files has a file in test/rooms, by which npm test runs it', async (t) => {
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
  const rooms = ['rooms', 'rooms/big', 'rooms/programs'].flatMap((folder) => readdirSync(`${tests}/${folder}`))
    .filter((file) => file.endsWith('.ts')).map((file) => file.replace('.ts', ''))
  const folders = new Set(files.map((file) => file.split('/')[0] ?? ''))
  t.strictSame([...folders].filter((folder) => !rooms.includes(folder)), [])
  t.strictSame(rooms.filter((room) => !folders.has(room)), ['alone', 'postgres-changes', 'browser-portal'], 'parts of folders')
})
