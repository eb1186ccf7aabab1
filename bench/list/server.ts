import type { AddressInfo } from 'node:net'
import { devNull } from 'node:os'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import pg from 'pg'
import { readCpuMicros, serveQuestions } from '../harness/helper.js'
import { apiKey, createCandidates, scopes, tenantSlug, withUuids } from './candidates.js'
import { createDatabaseApp, createOwnApp, createUuidApp } from './own-app.js'
import { createPlainApp } from './plain-app.js'
import { openPages, openServerCpu, openStorage } from './postgres.js'
import { createCandidateTable } from './plain-table.js'

/** `node server.js <ours|plain>[-uuids|-postgres] <silent|logging> <url of the database>` */
const [who, logging, url] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 10 })
const options = { logger: logging === 'logging' ? { file: devNull } : false }
const keyLookup = memoryKeyLookup([{ key: apiKey, tenantSlug, scopes }])
const candidates = createCandidates(1000)
const serverCpu = who?.endsWith('-postgres') === true ? await openServerCpu(pool) : () => 0
const apps = {
  ours: () => createOwnApp(keyLookup, candidates, options),
  'ours-uuids': () => createUuidApp(keyLookup, withUuids(candidates), options),
  plain: () => createPlainApp(keyLookup, new Map([[tenantSlug, createCandidateTable(candidates)]]), options),
  'plain-uuids': () =>
    createPlainApp(keyLookup, new Map([[tenantSlug, createCandidateTable(withUuids(candidates))]]), options, 'string'),
  'ours-postgres': () => createDatabaseApp(keyLookup, openStorage(pool), options),
  'plain-postgres': () => createPlainApp(keyLookup, new Map([[tenantSlug, openPages(pool)]]), options)
}
const app = apps[who as keyof typeof apps]()
await app.listen({ host: '127.0.0.1', port: 0 })

serveQuestions({
  port: () => (app.server.address() as AddressInfo).port,
  cpu: () => readCpuMicros() + serverCpu()
})
