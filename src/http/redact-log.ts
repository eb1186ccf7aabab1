import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { hasLogger } from './log.js'

type ChildOptions = Parameters<FastifyInstance['childLoggerFactory']>[2]

/** Serializes a request as Fastify does, but without the values of the query: they may be personal data. */
function describeRequest (request: Partial<FastifyRequest>): object {
  const { method, url = '', headers, host, ip, socket } = request
  return { method, url: hideValues(url), version: headers?.['accept-version'], host, remoteAddress: ip, remotePort: socket?.remotePort }
}

/** Turns `/jobs?filter[q]=Ada&page=2` into `/jobs?filter[q]&page`. */
function hideValues (url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? url : url.slice(0, start) + url.slice(start).replaceAll(/=[^&]*/g, '')
}

const serializers = { req: describeRequest }

/** Replaces the host's serializer for `req` in the loggers of a scope's requests. */
export function redactQueries (scope: FastifyInstance): void {
  if (!hasLogger(scope)) return
  const { childLoggerFactory } = scope
  let parent: FastifyBaseLogger | null = null

  /** Creates one logger per level and reuses it, because a child with its own serializers costs twice as much. */
  function redact (logger: FastifyBaseLogger): FastifyBaseLogger {
    if (parent === null || parent.level !== logger.level) parent = logger.child({}, { serializers })
    return parent
  }

  scope.setChildLoggerFactory(function (logger, bindings, options, message) {
    return childLoggerFactory.call(this, redact(logger), bindings, withSerializer(options), message)
  })
}

/** Does the same for a route of the host, whose plugin may set a logger factory of its own. */
export function redactRoute (route: RouteOptions): void {
  route.logSerializers = { ...route.logSerializers, ...serializers }
}

/** Otherwise the serializers of the host's plugin or route would take precedence. */
function withSerializer (options: ChildOptions): ChildOptions {
  if (options.serializers === undefined) return options
  return { ...options, serializers: Object.assign(Object.create(options.serializers), serializers) }
}
