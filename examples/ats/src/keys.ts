// API keys of a company, for its admins. Each call names the company, so nobody reaches a key of another one.

import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { ApiKeys } from 'fastify-recruiting-api/postgres'
import { type FindUser, rejectOtherSites } from './settings-page.js'

interface KeyRoute {
  Params: { id: string }
}

/** Creates the operations that a page for API keys needs. Only the answer to a new key contains the key itself. */
export function keyRoutes (keys: ApiKeys, findUser: FindUser): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', rejectOtherSites)

    function tenantOf (request: FastifyRequest): { tenantId: string } {
      const user = findUser(request)
      if (user?.isAdmin !== true) throw Object.assign(new Error('Sign in as an admin'), { statusCode: 403 })
      return { tenantId: user.companyId }
    }

    app.get('/', async (request) => ({ data: await keys.list(tenantOf(request)) }))

    // A key for a job board: it reads jobs, and only the names of candidates.
    app.post('/', async (request, reply) => {
      const data = await keys.issue({
        ...tenantOf(request),
        name: 'Job board',
        scopes: ['jobs:read', 'candidates:read'],
        candidateFields: ['full_name']
      })
      return reply.code(201).send({ data })
    })

    // The old key stays valid for an hour.
    app.post<KeyRoute>('/:id/rotate', async (request, reply) => {
      const tenant = tenantOf(request)
      const key = await keys.find(tenant, request.params.id)
      if (key === null || key.revokedAt !== null) return reply.callNotFound()
      return { data: await keys.rotate(tenant, key.id, { overlapSeconds: 3600 }) }
    })

    app.delete<KeyRoute>('/:id', async (request, reply) => {
      return await keys.revoke(tenantOf(request), request.params.id) ? reply.code(204).send() : reply.callNotFound()
    })
  }
}
