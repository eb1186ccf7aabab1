// Writes openapi.json: the document that the plugin serves with the default options.

import { writeFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { recruitingApi } from '../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../src/memory/index.js'

const app = Fastify()
await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]), delivery: false })
const { body } = await app.inject('/api/v1/public/openapi.json')
await writeFile(new URL('../openapi.json', import.meta.url), `${JSON.stringify(JSON.parse(body), null, 2)}\n`)
await app.close()
