// Your product's page with the portal, where a customer's team manages its webhooks.

import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'

export interface User {
  id: string
  companyId: string
  isAdmin: boolean
}

/** Returns the signed-in user, or `null`. */
export type FindUser = (request: FastifyRequest) => User | null

/**
 * Rejects requests from other sites' pages, to which a browser would add the user's cookie. `Sec-Fetch-Site` is also
 * correct behind a proxy that changes `Host`; browsers send it over https.
 */
export const rejectOtherSites: onRequestHookHandler = (request, reply, done) => {
  const { origin, host, 'sec-fetch-site': site } = request.headers
  const isOther = site !== undefined
    ? site !== 'same-origin'
    : origin !== undefined && origin.replace(/^https?:\/\//, '') !== host
  if (isOther && request.method !== 'GET') return reply.code(403).send({ error: 'Send it from this site' })
  done()
}

/**
 * Rejects requests for names that the server does not listen on. A site can point its own name to this machine (DNS
 * rebinding): its pages would then be of the same origin, and signed in. No one can do that with an IP address.
 */
export function rejectOtherNames (listensOn: string): onRequestHookHandler {
  return ({ headers: { host = '' } }, reply, done) => {
    const name = host.replace(/:\d+$/, '').toLowerCase()
    if (['localhost', listensOn].includes(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0) return done()
    reply.code(421).send({ error: 'Use localhost, or an address of this machine' })
  }
}

export function addSettingsPage (app: FastifyInstance, findUser: FindUser): void {
  app.post('/settings/webhooks/session', { onRequest: rejectOtherSites }, async (request, reply) => {
    const user = findUser(request)
    if (user === null) return reply.code(401).send({ error: 'Sign in' })
    return app.recruiting.portal.createSession({
      tenantId: user.companyId,
      actor: user.id,
      capabilities: user.isAdmin ? ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'] : ['read']
    })
  })

  app.get('/settings/webhooks', async (request, reply) => {
    if (findUser(request) === null) return reply.code(401).send({ error: 'Sign in' })
    return reply.type('text/html; charset=utf-8').send(page)
  })
  app.get('/settings/webhooks.js', async (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script))
}

const page = `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Settings</title>
<link rel="icon" href="data:,">
<script src="/settings/webhooks.js"></script>
<iframe title="Webhooks" src="/api/v1/public/portal/" allow="clipboard-write" style="width: 100%; height: 95vh; border: 0"></iframe>
`

// The portal asks for a session when it has loaded, and again before a session expires.
const script = `addEventListener('message', async ({ source, origin, data }) => {
  const frame = document.querySelector('iframe[title="Webhooks"]')
  if (source !== frame.contentWindow || origin !== new URL(frame.src).origin) return
  if (data.type !== 'recruiting-webhooks:session-needed') return
  const response = await fetch('/settings/webhooks/session', { method: 'POST' })
  const { url } = await response.json()
  source.postMessage({ type: 'recruiting-webhooks:session', url }, origin)
})
`
