import type { FastifyRequest } from 'fastify'
import { type Logger, createSafeLogger } from '../observe/logger.js'

/** Returns the logger of a request. It can log any thrown value. */
export function logOf (request: FastifyRequest): Logger {
  return createSafeLogger(request.log)
}
