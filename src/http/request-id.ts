import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasLogger, logOf } from './log.js'

/** Returns the id for a request. */
export type RequestIdSource = (request: FastifyRequest) => string

const kRequestId = Symbol('request id')

/** A message whose id is already bound to the request's logger. */
interface IdentifiedMessage extends IncomingMessage {
  [kRequestId]?: string
}

interface IdentifiedRequest extends FastifyRequest {
  [kRequestId]?: string
}

/** Returns the id that `identify` has set; empty if the host has already responded. */
export function readRequestId (request: IdentifiedRequest): string {
  return String(request[kRequestId])
}

/** Characters that need no quoting in a header and in a log line. */
const usable = /^[\x21-\x7e]{1,200}$/

/** Returns `req_` and 32 hexadecimal digits with 122 random bits. */
function generateRequestId (): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** Returns the id of a request. The first call creates it, binds it to the request's logger and sets the header. */
export type Identify = (request: IdentifiedRequest, reply: FastifyReply) => string

/** Finds the request that another one is made for, which has the same id. */
export interface Origins {
  find (raw: IncomingMessage): { requestId: string } | null
}

/** Prepares a scope for request ids, from the host's source or generated. */
export function identifyRequests (scope: FastifyInstance, source: RequestIdSource | null, origins: Origins | null = null): Identify {
  scope.decorateRequest(kRequestId, '')
  const isBound = source === null && hasLogger(scope)
  if (isBound) bindGeneratedIds(scope, origins)
  return (request, reply) => request[kRequestId] || (isBound && takeBoundId(request, reply)) || makeId(request, reply, source, origins)
}

/** Adds the id when Fastify creates the request's logger, because a second child logger would double the cost. */
function bindGeneratedIds (scope: FastifyInstance, origins: Origins | null): void {
  const { childLoggerFactory } = scope
  scope.setChildLoggerFactory(function (logger, bindings, options, message: IdentifiedMessage) {
    const id = origins?.find(message)?.requestId ?? generateRequestId()
    message[kRequestId] = id
    return childLoggerFactory.call(this, logger, Object.assign(bindings, { request_id: id }), options, message)
  })
}

/** Returns `undefined` if a logger factory of the host replaced ours. */
function takeBoundId (request: IdentifiedRequest, reply: FastifyReply): string | undefined {
  const id = (request.raw as IdentifiedMessage)[kRequestId]
  if (id === undefined) return
  request[kRequestId] = id
  reply.header('x-request-id', id)
  return id
}

function makeId (request: IdentifiedRequest, reply: FastifyReply, source: RequestIdSource | null, origins: Origins | null): string {
  const known = origins?.find(request.raw)?.requestId
  const { id, err } = known === undefined ? generate(request, source) : { id: known }
  request[kRequestId] = id
  request.log = reply.log = request.log.child({ request_id: id })
  reply.header('x-request-id', id)
  if (err !== undefined) logOf(request).error({ err }, 'the requestId option gave no usable id, so one was generated')
  return id
}

function generate (request: FastifyRequest, source: RequestIdSource | null): { id: string, err?: unknown } {
  return source === null ? { id: generateRequestId() } : tryMake(request, source)
}

function tryMake (request: FastifyRequest, source: RequestIdSource): { id: string, err?: unknown } {
  try {
    const id: unknown = source(request)
    if (typeof id === 'string' && usable.test(id)) return { id }
    // An unhandled rejection would end the process.
    Promise.resolve(id).catch(() => {})
    return { id: generateRequestId(), err: new TypeError('expected 1 to 200 visible ASCII characters') }
  } catch (err) {
    return { id: generateRequestId(), err }
  }
}
