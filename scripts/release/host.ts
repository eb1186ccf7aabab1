// A host of the packed package: .ci/check-release compiles and runs it with each TypeBox, before and after an upgrade.
//
// node host.ts SCHEMA MIGRATION DELIVERIES

import { strictEqual } from 'node:assert/strict'
import { createServer } from 'node:http'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import pg from 'pg'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'

const [, , schema = '', migration = '', deliveries = ''] = process.argv
const events = { 'offer.signed': Type.Object({ id: Type.Integer() }) }
declare module 'fastify-recruiting-api' {
  interface Register { events: typeof events }
}
const pool = new pg.Pool({ connectionTimeoutMillis: 5000, connectionString: process.env.DATABASE_URL ?? '' })
const endpoint = createServer((request, response) => { request.resume().on('end', () => response.end()) })
await new Promise<void>((resolve) => { endpoint.listen(0, '127.0.0.1', resolve) })
const { port } = endpoint.address() as { port: number }
const item =
  "text collate \"C\" as tenant_slug, 1::bigint as id, now() as created_at, now() as updated_at, 'Ada' as full_name, 'Ada' as name"
await pool.query(
  `create or replace view items as select 'acme'::${item}, 'open' as status, null as headline, 1 as source_id, 1 as recruiter_id, true as starred`
)
strictEqual((await migrate(pool, { schema })).includes(migration), true, migration)
const app = Fastify()
await app.register(recruitingApi, {
  storage: postgresStorage(pool, { schema, candidates: 'public.items', jobs: 'public.items' }),
  keyLookup: memoryKeyLookup([{ key: 'key', tenantSlug: 'acme', scopes: ['candidates:read'] }]),
  events,
  candidateFields: Type.Object({ starred: Type.Boolean() }),
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'] }
})
const { statusCode, body } = await app.inject({
  url: '/api/v1/public/acme/candidates',
  headers: { authorization: 'Bearer key' }
})
strictEqual(statusCode, 200, body)
const { data: webhooks } = await app.recruiting.webhooks.list('acme')
const target = { name: 'CRM', target_url: `http://127.0.0.1:${port}/`, event_types: ['offer.signed' as const] }
const webhook = webhooks[0] ?? await app.recruiting.webhooks.create('acme', target)
await app.recruiting.webhooks.update('acme', webhook.id, target)
await app.recruiting.emit({ tenantSlug: 'acme', type: 'offer.signed', data: { id: 1 } })
await app.recruiting.drain()
const { meta } = await app.recruiting.webhooks.listDeliveries('acme', webhook.id, { 'filter[status]': 'delivered' })
strictEqual(String(meta.total), deliveries, 'deliveries of this version and the previous one')
await app.close()
await pool.end()
endpoint.close()
