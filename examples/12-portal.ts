// Your own settings page with the portal, where a customer's team manages its webhooks.
//
// tsx examples/12-portal.ts

import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyRequest } from 'fastify'
import { recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const app = Fastify({ logger: true })

await app.register(recruitingApi, {
  storage: memoryStorage(),
  keyLookup: memoryKeyLookup([]),
  errorDetails: true,
  portal: {
    // In production, 32 bytes from your secret store, the same in every process.
    secretKeys: [randomBytes(32)],
    frameAncestors: ['self'],
    theme: { accent: { light: '#0b57d0', dark: '#a8c7fa' }, radius: 8, font: 'Inter, sans-serif', mode: 'system' }
  }
})

/** Replace this with your own sign-in. In this example everyone is an admin of acme. */
function signedInUser (_request: FastifyRequest): { id: string, company: string, isAdmin: boolean } {
  return { id: 'dana@acme.example', company: 'acme', isAdmin: true }
}

app.post('/settings/webhooks/session', async (request) => {
  const user = signedInUser(request)
  return app.recruiting.portal.createSession({
    tenantSlug: user.company,
    actor: user.id,
    capabilities: user.isAdmin ? ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'] : ['read']
  })
})

app.get('/settings/webhooks', async (_request, reply) =>
  reply.type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<title>Settings</title>
<script src="/settings/webhooks.js"></script>
<iframe title="Webhooks" src="/api/v1/public/portal/" allow="clipboard-write" style="width: 100%; height: 90vh; border: 0"></iframe>`)
)

// The portal asks for a session when it has loaded, and again before a session expires.
app.get('/settings/webhooks.js', async (_request, reply) => reply.type('text/javascript; charset=utf-8').send(`
addEventListener('message', async ({ source, origin, data }) => {
  const frame = document.querySelector('iframe[title="Webhooks"]')
  if (source !== frame.contentWindow || origin !== new URL(frame.src).origin) return
  if (data.type !== 'recruiting-webhooks:session-needed') return
  const response = await fetch('/settings/webhooks/session', { method: 'POST' })
  const { url } = await response.json()
  source.postMessage({ type: 'recruiting-webhooks:session', url }, origin)
})
`))

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
