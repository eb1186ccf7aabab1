import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'

type ChildOptions = Parameters<FastifyInstance['childLoggerFactory']>[2]

/** What is logged of a request: as Fastify does, but without the values of the query, which may be personal data. */
function describeRequest (request: Partial<FastifyRequest>): object {
  const { method, url = '', headers, host, ip, socket } = request
  return { method, url: hideValues(url), version: headers?.['accept-version'], host, remoteAddress: ip, remotePort: socket?.remotePort }
}

/** `/jobs?filter[q]=Ada&page=2` becomes `/jobs?filter[q]&page`. */
function hideValues (url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? url : url.slice(0, start) + url.slice(start).replaceAll(/=[^&]*/g, '')
}

const serializers = { req: describeRequest }

/** Replaces the host's serializer for `req` in the loggers of all requests to a scope. */
export function redactQueries (scope: FastifyInstance): void {
  // A server without a logger has no level, and makes no children unless somebody sets what makes them.
  if (scope.log.level === undefined) return
  const { childLoggerFactory } = scope
  let parent: FastifyBaseLogger | null = null

  /** Made once for each level: serializers of its own make a child cost twice as much. */
  function redact (logger: FastifyBaseLogger): FastifyBaseLogger {
    if (parent === null || parent.level !== logger.level) parent = logger.child({}, { serializers })
    return parent
  }

  scope.setChildLoggerFactory(function (logger, bindings, options, message) {
    return childLoggerFactory.call(this, redact(logger), bindings, withSerializer(options), message)
  })
}

/** Does the same for a route of the host, whose plugin may make the loggers of its requests itself. */
export function redactRoute (route: RouteOptions): void {
  route.logSerializers = { ...route.logSerializers, ...serializers }
}

/** Serializers that the host gives to a plugin or a route would win otherwise. */
function withSerializer (options: ChildOptions): ChildOptions {
  if (options.serializers === undefined) return options
  return { ...options, serializers: Object.assign(Object.create(options.serializers), serializers) }
}
