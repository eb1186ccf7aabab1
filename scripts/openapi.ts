// Writes openapi.json, the plugin's document with secretKeys and agents' events. With --check, fails instead if it is
// outdated.

import { readFile, writeFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { recruitingApi } from '../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../src/storages/memory/index.js'

const app = Fastify()
await app.register(recruitingApi, {
  storage: memoryStorage(),
  keyLookup: memoryKeyLookup([]),
  secretKeys: [Buffer.alloc(32)],
  delivery: false,
  mcp: { events: true }
})
const document: unknown = (await app.inject('/api/v1/public/openapi.json')).json()
await app.close()
const file = new URL('../openapi.json', import.meta.url)
const text = `${JSON.stringify(document, null, 2)}\n`
if (!process.argv.includes('--check')) await writeFile(file, text)
else if (await readFile(file, 'utf8') !== text) {
  console.error('openapi.json is outdated: run npm run openapi')
  process.exitCode = 1
}
