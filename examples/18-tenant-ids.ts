// A vendor whose customers can change their slugs: all data belongs to the company's id, and the slug is only its name.
//
// curl http://127.0.0.1:3000/api/v1/public/acme/candidates -H 'Authorization: Bearer acme-secret-key'
// curl -X POST 'http://127.0.0.1:3000/rename?from=acme&to=acme-corp'
// curl http://127.0.0.1:3000/api/v1/public/acme-corp/candidates -H 'Authorization: Bearer acme-secret-key'

import Fastify from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

// Stands in for your table of companies: ids by slug.
const companies = new Map([['acme', 41], ['globex', 42]])

function findSlug (tenantId: string): string | null {
  return [...companies].find(([, id]) => String(id) === tenantId)?.[0] ?? null
}

const app = Fastify({ logger: true })

await app.register(recruitingApi, {
  tenantId: (tenantSlug) => companies.get(tenantSlug) ?? null,
  tenantSlug: findSlug,
  storage: memoryStorage({ tenants: { 41: { candidates: [{ id: 1, full_name: 'Ada Lovelace' }] } } }),
  keyLookup: memoryKeyLookup([
    { key: 'acme-secret-key', tenantSlug: 'acme', tenantId: '41', scopes: ['candidates:read'] }
  ])
})

app.post<{ Querystring: { from: string, to: string } }>('/rename', async ({ query: { from, to } }, reply) => {
  const id = companies.get(from)
  if (id === undefined || companies.has(to)) {
    return reply.code(400).send({ error: "expected a company's slug and a new slug" })
  }
  companies.delete(from)
  companies.set(to, id)
  // Logs and notices use the new name from now on. Keys, sessions and webhooks belong to the id.
  return app.recruiting.renameTenant(from, to)
})

app.post<{ Querystring: { slug: string } }>('/remove', async ({ query: { slug } }, reply) => {
  const id = companies.get(slug)
  if (id === undefined) return reply.code(400).send({ error: "expected a company's slug" })
  // First, so that nothing new is stored for it. The slug is free immediately.
  companies.delete(slug)
  return app.recruiting.removeTenant({ tenantId: id })
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
