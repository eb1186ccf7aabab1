import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * The progress of a request: `admitted` after the checks of key and scopes, `ready` after its input is read, `handling`
 * while the handler runs.
 */
type Stage = 'admitted' | 'ready' | 'handling'

const kStage = Symbol('stage')

interface StagedRequest extends FastifyRequest {
  [kStage]?: Stage | null
}

export function decorateStage (scope: FastifyInstance): void {
  scope.decorateRequest(kStage, null)
}

/** Returns the stage of a request; `null` before it is admitted and after its handler has ended. */
export function readStage (request: StagedRequest): Stage | null {
  return request[kStage] ?? null
}

export function setStage (request: StagedRequest, stage: Stage | null): void {
  request[kStage] = stage
}

/**
 * Throws unless the request is at this stage. If a hook of the host throws `undefined`, Fastify skips the remaining hooks,
 * including the check of the key.
 */
export function assertStage (request: StagedRequest, stage: Stage): void {
  if (request[kStage] !== stage) throw new Error('a hook of the host threw nothing, so the checks after it did not run')
}
