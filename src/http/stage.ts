import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * How far a request has come: `admitted` once key and scope are checked, `ready` once its input is read, `handling` while
 * the handler runs.
 */
type Stage = 'admitted' | 'ready' | 'handling'

const kStage = Symbol('stage')

interface StagedRequest extends FastifyRequest {
  [kStage]?: Stage | null
}

/** Gives the requests to a scope a stage. */
export function decorateStage (scope: FastifyInstance): void {
  scope.decorateRequest(kStage, null)
}

/** The stage of a request; `null` before it is admitted and after its handler has ended. */
export function readStage (request: StagedRequest): Stage | null {
  return request[kStage] ?? null
}

/** Moves a request to a stage. */
export function setStage (request: StagedRequest, stage: Stage | null): void {
  request[kStage] = stage
}

/**
 * Throws unless the request is at this stage. A hook of the host that throws `undefined` makes Fastify skip the hooks
 * after it, the check of the key among them.
 */
export function assertStage (request: StagedRequest, stage: Stage): void {
  if (request[kStage] !== stage) throw new Error('a hook of the host threw nothing, so the checks after it did not run')
}
