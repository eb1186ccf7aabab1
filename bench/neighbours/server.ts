import { readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import pg from 'pg'
import recruitingApi, { type EventCatalogue } from 'fastify-recruiting-api'
import { apiKeys, postgresKeyLookup, postgresStorage } from 'fastify-recruiting-api/postgres'
import { serveQuestions } from '../harness/helper.js'
import { fieldNames, loud, quiet } from './tenants.js'

/** `node server.js <url>` serves the API with default options, and delivers. */
const [connectionString] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5000 })
const app = Fastify()
const own = Object.fromEntries(fieldNames.map((name) => [name, Type.Union([Type.String(), Type.Null()])]))
const note = Type.Object({}, { additionalProperties: true })
const events: EventCatalogue = { 'note.added': note, 'note.many': note }
await app.register(recruitingApi, {
  storage: postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs' }),
  keyLookup: postgresKeyLookup(pool),
  candidateFields: Type.Object({ ...own, extra: Type.Unknown() }),
  events: events as never,
  maxWebhooksPerTenant: 10_000,
  mcp: true,
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})
/** Emits an event with the time, so that its receiver can measure the delay. */
app.post('/emit/:tenant', async ({ params, body }) => {
  const { tenant: tenantSlug } = params as { tenant: string }
  return app.recruiting.emit({ tenantSlug, data: { sentAt: Date.now() }, ...body as object } as never)
})
await app.listen({ host: '127.0.0.1', port: 0 })

const keys = apiKeys(pool)
const scopes = ['candidates:read', 'jobs:read', 'webhooks:read', 'webhooks:write', 'api_keys:manage']

serveQuestions({
  port: () => (app.server.address() as AddressInfo).port,
  /** Issues a key with all scopes for each tenant. */
  keys: async () => ({
    [loud]: (await keys.issue({ tenantSlug: loud, scopes })).key,
    [quiet]: (await keys.issue({ tenantSlug: quiet, scopes })).key
  }),
  /** Issues a key for each list of fields of candidates. */
  limitedKeys: async (lists) => {
    const issued: string[] = []
    for (const candidateFields of lists as string[][]) {
      issued.push((await keys.issue({ tenantSlug: loud, scopes, candidateFields })).key)
    }
    return issued
  },
  limitedKey: async (candidateFields) => (
    await keys.issue({ tenantSlug: quiet, scopes, candidateFields: candidateFields as string[] })
  ).key,
  descriptors: () => readdirSync('/proc/self/fd').length
})
