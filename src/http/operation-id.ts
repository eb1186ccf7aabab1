import type { FastifyRequest, FastifySchema } from 'fastify'

/** Returns the `operationId` of a route's schema, for example `listCandidates`; `null` if it has none. */
export function operationIdOf (schema: FastifySchema | undefined): string | null {
  return (schema as { operationId?: string } | undefined)?.operationId ?? null
}

/** Returns the operation of a request; `null` for an unknown path. */
export function readOperationId ({ routeOptions }: FastifyRequest): string | null {
  return operationIdOf(routeOptions.schema)
}
