import type { AddressInfo } from 'node:net'
import { devNull } from 'node:os'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { serveQuestions } from '../harness/helper.js'
import { apiKey, createCandidates, scopes, tenantSlug, withUuids } from './candidates.js'
import { createOwnApp, createUuidApp } from './own-app.js'
import { createPlainApp } from './plain-app.js'
import { createCandidateTable } from './plain-table.js'

/** `node server.js <ours|ours-uuids|plain|plain-uuids> <silent|logging>` */
const [who, logging] = process.argv.slice(2)
const options = { logger: logging === 'logging' ? { file: devNull } : false }
const keyLookup = memoryKeyLookup([{ key: apiKey, tenantSlug, scopes }])
const candidates = createCandidates(1000)
const apps = {
  ours: () => createOwnApp(keyLookup, candidates, options),
  'ours-uuids': () => createUuidApp(keyLookup, withUuids(candidates), options),
  plain: () => createPlainApp(keyLookup, new Map([[tenantSlug, createCandidateTable(candidates)]]), options),
  'plain-uuids': () =>
    createPlainApp(keyLookup, new Map([[tenantSlug, createCandidateTable(withUuids(candidates))]]), options, 'string')
}
const app = apps[who as keyof typeof apps]()
await app.listen({ host: '127.0.0.1', port: 0 })

serveQuestions({ port: () => (app.server.address() as AddressInfo).port })
