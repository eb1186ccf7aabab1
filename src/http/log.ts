import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RegisterOptions } from 'fastify'
import { createSafeLogger, type Logger } from '../observe/logger.js'

/** Returns the logger of a request. It can log any thrown value. */
export function logOf (request: FastifyRequest): Logger {
  return createSafeLogger(request.log)
}

/** Serializes a request as Fastify does, but without the values of the query: they may be personal data. */
function describeRequest (request: Partial<FastifyRequest>): object {
  const { method, url = '', headers, host, ip, socket } = request
  return {
    method,
    url: hideValues(url),
    version: headers?.['accept-version'],
    host,
    remoteAddress: ip,
    remotePort: socket?.remotePort
  }
}

/** Turns `/jobs?filter[q]=Ada&page=2` into `/jobs?filter[q]&page`. */
function hideValues (url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? url : url.slice(0, start) + url.slice(start).replaceAll(/=[^&]*/g, '')
}

/** Adds the serializer of requests to those of the host. Fastify passes those of plugins as inherited properties. */
export function redactValues (serializers: object | undefined): NonNullable<RegisterOptions['logSerializers']> {
  return Object.assign(Object.create(serializers ?? null), serializers, { req: describeRequest })
}

/** Passes the serializer to the factory of all loggers of a scope, which is the host's if it has one. */
export function redactQueries (scope: FastifyInstance): void {
  // Without a logger, Fastify creates none for a request, unless there is a factory.
  if (scope.log.level === undefined) return
  const { childLoggerFactory } = scope
  let parent: FastifyBaseLogger | null = null

  /** Reuses one logger per level, because a child with its own serializers costs twice as much. */
  function redact (logger: FastifyBaseLogger): FastifyBaseLogger {
    if (parent === null || parent.level !== logger.level) {
      parent = logger.child({}, { serializers: redactValues(undefined) })
    }
    return parent
  }

  scope.setChildLoggerFactory(function (logger, bindings, { serializers, ...options }, message) {
    const redacted = serializers === undefined ? options : { ...options, serializers: redactValues(serializers) }
    return childLoggerFactory.call(this, redact(logger), bindings, redacted, message)
  })
}
