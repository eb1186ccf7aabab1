import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Makes the id of a request. */
export type RequestIdSource = (request: FastifyRequest) => string

export const kRequestId = Symbol('request id')

interface IdentifiedRequest extends FastifyRequest {
  [kRequestId]?: string
}

/** What can stand in a header and in a log line without quoting. */
const usable = /^[\x21-\x7e]{1,200}$/

/** `req_` and 32 hexadecimal digits, 122 bits of them random. */
export function generateRequestId (): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

/** The request's id: of the host's source, or generated. On the first call it is made, bound to the request's logger and set on the answer. */
export function identify (request: IdentifiedRequest, reply: FastifyReply, source: RequestIdSource | null): string {
  if (request[kRequestId]) return request[kRequestId]
  const { id, err } = source === null ? { id: generateRequestId() } : tryMake(request, source)
  request[kRequestId] = id
  request.log = reply.log = request.log.child({ request_id: id })
  reply.header('x-request-id', id)
  if (err !== undefined) request.log.error({ err }, 'the requestId option gave no usable id, so one was generated')
  return id
}

function tryMake (request: FastifyRequest, source: RequestIdSource): { id: string, err?: unknown } {
  try {
    const id: unknown = source(request)
    if (typeof id === 'string' && usable.test(id)) return { id }
    return { id: generateRequestId(), err: new TypeError('expected 1 to 200 visible ASCII characters') }
  } catch (err) {
    return { id: generateRequestId(), err }
  }
}
