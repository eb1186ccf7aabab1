import type { FastifyInstance, preValidationHookHandler } from 'fastify'
import { restoreAnswer } from '../answers/answer.js'
import { readTenantSlug } from '../auth.js'
import { readBody } from './body.js'
import { parseQuery } from './query.js'
import { assertStage, setStage } from '../stage.js'

/** Reads query and body from what the client sent, whatever hooks of the host made of them until now. */
const readInput: preValidationHookHandler = function (request, _reply, done) {
  assertStage(request, 'admitted')
  request.query = parseQuery(request.url)
  if (request.method !== 'GET' && request.method !== 'HEAD') request.body = readBody(request)
  ;(request.params as { tenant_slug: string }).tenant_slug = readTenantSlug(request)
  setStage(request, 'ready')
  done()
}

/** Shields our own routes: hooks of a route run after all those of the host, whenever it adds them. */
export function shieldRoutes (scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    route.preValidation = [readInput, ...[route.preValidation ?? []].flat()]
    route.onSend = [restoreAnswer, ...[route.onSend ?? []].flat()]
  })
}

/** Shields a scope for routes of the host, whose own plugin may add hooks of its own: those run afterwards. */
export function shieldScope (scope: FastifyInstance): void {
  scope.addHook('preValidation', readInput)
  scope.addHook('onSend', restoreAnswer)
}
