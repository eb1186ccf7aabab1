import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { logOf } from './log.js'

/** Makes the id of a request. */
export type RequestIdSource = (request: FastifyRequest) => string

const kRequestId = Symbol('request id')

/** An id that the logger of the request was born with. */
interface IdentifiedMessage extends IncomingMessage {
  [kRequestId]?: string
}

interface IdentifiedRequest extends FastifyRequest {
  [kRequestId]?: string
}

/** The id of a request that `identify` has seen; empty for one that the host answered before. */
export function readRequestId (request: IdentifiedRequest): string {
  return String(request[kRequestId])
}

/** What can stand in a header and in a log line without quoting. */
const usable = /^[\x21-\x7e]{1,200}$/

/** `req_` and 32 hexadecimal digits, 122 bits of them random. */
function generateRequestId (): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** The id of a request. On its first call for one the id is made, bound to the request's logger and set on the answer. */
export type Identify = (request: IdentifiedRequest, reply: FastifyReply) => string

/** Gives every request to the scope an id: of the host's source, or generated. */
export function identifyRequests (scope: FastifyInstance, source: RequestIdSource | null): Identify {
  scope.decorateRequest(kRequestId, '')
  // A server without a logger has no level, and makes no children unless somebody sets what makes them.
  const isBound = source === null && scope.log.level !== undefined
  if (isBound) bindGeneratedIds(scope)
  return (request, reply) => request[kRequestId] || (isBound && takeBoundId(request, reply)) || makeId(request, reply, source)
}

/** Lets the logger of a request be born with a generated id: one child of the host's logger costs half of two. */
function bindGeneratedIds (scope: FastifyInstance): void {
  const { childLoggerFactory } = scope
  scope.setChildLoggerFactory(function (logger, bindings, options, message: IdentifiedMessage) {
    const id = generateRequestId()
    message[kRequestId] = id
    return childLoggerFactory.call(this, logger, Object.assign(bindings, { request_id: id }), options, message)
  })
}

/** No id if the logger was born otherwise, as where the host has set what makes loggers. */
function takeBoundId (request: IdentifiedRequest, reply: FastifyReply): string | undefined {
  const id = (request.raw as IdentifiedMessage)[kRequestId]
  if (id === undefined) return
  request[kRequestId] = id
  reply.header('x-request-id', id)
  return id
}

function makeId (request: IdentifiedRequest, reply: FastifyReply, source: RequestIdSource | null): string {
  const { id, err } = source === null ? { id: generateRequestId() } : tryMake(request, source)
  request[kRequestId] = id
  request.log = reply.log = request.log.child({ request_id: id })
  reply.header('x-request-id', id)
  if (err !== undefined) logOf(request).error({ err }, 'the requestId option gave no usable id, so one was generated')
  return id
}

function tryMake (request: FastifyRequest, source: RequestIdSource): { id: string, err?: unknown } {
  try {
    const id: unknown = source(request)
    if (typeof id === 'string' && usable.test(id)) return { id }
    // A promise that rejects must not end the process.
    Promise.resolve(id).catch(() => {})
    return { id: generateRequestId(), err: new TypeError('expected 1 to 200 visible ASCII characters') }
  } catch (err) {
    return { id: generateRequestId(), err }
  }
}
