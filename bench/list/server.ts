import type { AddressInfo } from 'node:net'
import { devNull } from 'node:os'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { serveQuestions } from '../harness/helper.js'
import { apiKey, createCandidates, scopes, tenantSlug } from './candidates.js'
import { createOwnApp } from './own-app.js'
import { createPlainApp } from './plain-app.js'
import { createCandidateTable } from './plain-table.js'

/** `node server.js <ours|plain> <silent|logging>` */
const [who, logging] = process.argv.slice(2)
const options = { logger: logging === 'logging' ? { file: devNull } : false }
const keyLookup = memoryKeyLookup([{ key: apiKey, tenantSlug, scopes }])
const candidates = createCandidates(1000)
const app = who === 'ours'
  ? createOwnApp(keyLookup, candidates, options)
  : createPlainApp(keyLookup, new Map([[tenantSlug, createCandidateTable(candidates)]]), options)
await app.listen({ host: '127.0.0.1', port: 0 })

serveQuestions({ port: () => (app.server.address() as AddressInfo).port })
