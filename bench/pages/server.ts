import type { AddressInfo } from 'node:net'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import pg from 'pg'
import { serveQuestions } from '../harness/helper.js'
import { createPlainApp } from '../list/plain-app.js'
import { apiKeys } from './keys.js'
import { createOwnApp } from './own-app.js'
import { createPostgresPages } from './plain-table.js'

/** `node server.js <ours|plain> <url of the database> <how long ours keeps totals, in milliseconds>` */
const [who, connectionString = '', totalsTtlMs] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5000 })
const keyLookup = memoryKeyLookup(apiKeys)
const app = who === 'ours'
  ? await createOwnApp(keyLookup, pool, Number(totalsTtlMs))
  : createPlainApp(keyLookup, new Map(apiKeys.map(({ tenantSlug }) => [tenantSlug, createPostgresPages(pool, tenantSlug)])), {})
await app.listen({ host: '127.0.0.1', port: 0 })

serveQuestions({ port: () => (app.server.address() as AddressInfo).port })
