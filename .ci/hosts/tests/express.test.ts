import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const scopes = ['webhooks:read', 'webhooks:write']

test('an Express server passes the API its requests with their bodies', async () => {
  const api = Fastify()
  await api.register(recruitingApi, {
    storage: memoryStorage(),
    keyLookup: memoryKeyLookup([{ key: 'acme-secret-key', tenantSlug: 'acme', scopes }])
  })
  await api.ready()

  const app = express()
  // Before the body parser, which would read the body.
  app.use((request, response, next) => {
    if (request.url.startsWith('/api/v1/public/')) api.routing(request, response)
    else next()
  })
  app.use(express.json())
  app.post('/apply', async (request, response) => {
    const { id } = request.body
    response.json(await api.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id } }))
  })

  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const post = (path: string, body: object): Promise<Response> => fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer acme-secret-key', 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  try {
    const created = await post('/api/v1/public/acme/webhooks', {
      name: 'CRM', target_url: 'https://example.com/hook', event_types: ['application.created']
    })
    expect(created.status).toBe(201)
    const applied = await post('/apply', { id: 1 })
    expect(await applied.json()).toMatchObject({ deliveries: 1 })
  } finally {
    server.closeAllConnections()
    server.close()
    await api.close()
  }
})
