import type { FastifyRequest } from 'fastify'
import { type Logger, createSafeLogger } from '../observe/logger.js'

/** The logger of a request, safe for whatever was thrown. */
export function logOf (request: FastifyRequest): Logger {
  return createSafeLogger(request.log)
}
