import type { FastifyInstance } from 'fastify'
import type { Limits } from './limits.js'
import { type RequestIdSource, identifyRequests } from '../request-id.js'
import { sendError } from '../answers/send-error.js'

/** Limits requests that need no key by their address. Only these refusals use the API's error format. */
export function limitOpenRequests (scope: FastifyInstance, limits: Limits, requestId: RequestIdSource | null): void {
  const identify = identifyRequests(scope, requestId)
  scope.addHook('onRequest', async (request, reply) => {
    try {
      await limits.countAddress(request, reply)
    } catch (thrown) {
      return sendError(thrown, request, reply, { id: identify(request, reply), errorDetails: false })
    }
  })
}
