import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, RegisterOptions } from 'fastify'
import { createSafeLogger, type Logger } from '../observe/logger.js'

/** Returns a request's logger, which can log any thrown value. */
export function logOf (request: FastifyRequest): Logger {
  return createSafeLogger(request.log)
}

export type RequestIdSource = (request: FastifyRequest) => string

const kLoggedId = Symbol('id in the logger of a request')

interface LoggedRequest extends IncomingMessage {
  [kLoggedId]?: string
}

/**
 * Wraps the factory of a scope's request loggers, so that log lines contain the request id and hide query values. With
 * the option `requestId`, `assignId` binds the id later.
 */
export function prepareLoggers (scope: FastifyInstance, source: RequestIdSource | null): void {
  // Without a logger, Fastify creates request loggers only if there is a factory.
  if (scope.log.level === undefined) return
  const { childLoggerFactory } = scope
  let parent: FastifyBaseLogger | null = null

  /** Reuses one logger per level, because a child with serializers costs twice as much. */
  function redact (logger: FastifyBaseLogger): FastifyBaseLogger {
    if (parent === null || parent.level !== logger.level) {
      parent = logger.child({}, { serializers: redactValues(undefined) })
      if (parent !== logger) redactChildren(parent)
    }
    return parent
  }

  scope.setChildLoggerFactory(function (logger, bindings, options, raw) {
    if (source === null) bindings.request_id = (raw as LoggedRequest)[kLoggedId] ??= generateRequestId()
    return childLoggerFactory.call(this, redact(logger), bindings, options, raw)
  })
}

/** Hides query values in serializers that a plugin or the host's factory adds to child loggers. */
function redactChildren (logger: FastifyBaseLogger): void {
  const { child } = logger
  // Does nothing if the logger is frozen.
  Reflect.set(logger, 'child', function (this: FastifyBaseLogger, ...[bindings, options]: Parameters<typeof child>) {
    if (options?.serializers === undefined) return child.call(this, bindings, options)
    return child.call(this, bindings, { ...options, serializers: redactValues(options.serializers) })
  })
}

/** Adds the request serializer to those of the host. Fastify passes a plugin's serializers as inherited properties. */
export function redactValues (serializers: object | undefined): NonNullable<RegisterOptions['logSerializers']> {
  return Object.assign(Object.create(serializers ?? null), serializers, { req: describeRequest })
}

/** Serializes a request as Fastify does, but without query values, which may be personal data. */
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

/** Converts `/jobs?filter[q]=Ada&page=2` to `/jobs?filter[q]&page`. */
function hideValues (url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? url : url.slice(0, start) + url.slice(start).replaceAll(/=[^&]*/g, '')
}

/** Returns the id of a request, and sets its header. Later log lines contain it. */
export function assignId (request: FastifyRequest, reply: FastifyReply, source: RequestIdSource | null): string {
  const logged = (request.raw as LoggedRequest)[kLoggedId]
  const { id, err } = logged === undefined ? makeId(request, source) : { id: logged }
  if (logged === undefined) request.log = reply.log = request.log.child({ request_id: id })
  reply.header('x-request-id', id)
  if (err !== undefined) {
    logOf(request).error({ err }, 'the requestId option returned no valid id, so one was generated')
  }
  return id
}

/** Characters that need no quoting in headers and log lines. */
const validId = /^[\x21-\x7e]{1,200}$/

function makeId (request: FastifyRequest, source: RequestIdSource | null): { id: string, err?: unknown } {
  if (source === null) return { id: generateRequestId() }
  try {
    const id: unknown = source(request)
    if (typeof id === 'string' && validId.test(id)) return { id }
    // An unhandled rejection would end the process.
    Promise.resolve(id).catch(() => {})
    return { id: generateRequestId(), err: new TypeError('expected 1 to 200 visible ASCII characters') }
  } catch (err) {
    return { id: generateRequestId(), err }
  }
}

/** Returns `req_` and 32 hexadecimal digits with 122 random bits. */
function generateRequestId (): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}
