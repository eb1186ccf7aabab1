import type { FastifyRequest, FastifySchema } from 'fastify'

/** The `operationId` of a route's schema, such as `listCandidates`; `null` if it has none. */
export function operationIdOf (schema: FastifySchema | undefined): string | null {
  return (schema as { operationId?: string } | undefined)?.operationId ?? null
}

/** What a request asks for; `null` for an unknown path. */
export function readOperationId ({ routeOptions }: FastifyRequest): string | null {
  return operationIdOf(routeOptions.schema)
}
