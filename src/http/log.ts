import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Logger, createSafeLogger } from '../observe/logger.js'

/** Returns the logger of a request. It can log any thrown value. */
export function logOf (request: FastifyRequest): Logger {
  return createSafeLogger(request.log)
}

/**
 * Returns whether the server has a logger: one without a logger has no level. There, setting a factory would make Fastify
 * create a logger for each request.
 */
export function hasLogger (scope: FastifyInstance): boolean {
  return scope.log.level !== undefined
}
