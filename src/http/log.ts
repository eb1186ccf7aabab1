import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { createSafeLogger, type Logger } from '../observe/logger.js'
import { addLogSerializers } from './fastify.js'

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

type LoggerFactory = FastifyInstance['childLoggerFactory']
type ChildOptions = Parameters<LoggerFactory>[2]

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

  const redacted = withoutValues(childLoggerFactory)
  scope.setChildLoggerFactory(function (logger, ...rest) {
    return redacted.call(this, redact(logger), ...rest)
  })
}

/** Does the same for a route of the host, whose plugin may set its own logger factory. */
export function redactRoute (scope: FastifyInstance, route: RouteOptions): void {
  addLogSerializers(route, serializers)
  if (hasLogger(scope)) route.childLoggerFactory = withoutValues(route.childLoggerFactory ?? scope.childLoggerFactory)
}

/** Wraps a factory of the host, whose loggers may have their own serializer for `req`. */
function withoutValues (factory: LoggerFactory): LoggerFactory {
  return function (logger, bindings, options, message) {
    const child = factory.call(this, logger, bindings, withSerializer(options), message)
    return hasOtherSerializer(child) ? child.child({}, { serializers }) : child
  }
}

/** Where pino documents the serializers of a logger. */
const kSerializers = Symbol.for('pino.serializers')

function hasOtherSerializer (logger: FastifyBaseLogger & { [kSerializers]?: { req?: unknown } }): boolean {
  const serializer = logger[kSerializers]?.req
  return serializer !== undefined && serializer !== describeRequest
}

/** Lets the package's serializers take precedence over the host's. */
function withSerializer (options: ChildOptions): ChildOptions {
  if (options.serializers === undefined) return options
  return { ...options, serializers: Object.assign(Object.create(options.serializers), serializers) }
}
