import type { FastifyInstance, preValidationHookHandler } from 'fastify'
import { restoreAnswer } from '../answers/answer.js'
import { readTenantSlug } from '../auth.js'
import { readBody } from './body.js'
import { parseQuery } from './query.js'
import { assertStage, setStage } from '../stage.js'

/** Reads query and body as the client sent them, ignoring changes by hooks of the host. */
const readInput: preValidationHookHandler = function (request, _reply, done) {
  assertStage(request, 'admitted')
  request.query = parseQuery(request.url)
  if (request.method !== 'GET' && request.method !== 'HEAD') request.body = readBody(request)
  ;(request.params as { tenant_slug: string }).tenant_slug = readTenantSlug(request)
  setStage(request, 'ready')
  done()
}

/** Shields the API's own routes. Hooks of a route run after the host's hooks, whenever the host adds them. */
export function shieldRoutes (scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    route.preValidation = [readInput, ...[route.preValidation ?? []].flat()]
    route.onSend = [restoreAnswer, ...[route.onSend ?? []].flat()]
  })
}

/** Shields the scope of the option `routes`. Hooks that its plugin adds run afterwards and keep their effect. */
export function shieldScope (scope: FastifyInstance): void {
  scope.addHook('preValidation', readInput)
  scope.addHook('onSend', restoreAnswer)
}
