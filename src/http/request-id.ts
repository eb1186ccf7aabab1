import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { logOf } from './log.js'

/** Returns the id for a request. */
export type RequestIdSource = (request: FastifyRequest) => string

/** Characters that need no quoting in a header and in a log line. */
const usable = /^[\x21-\x7e]{1,200}$/

/** Makes the id of a request, unless it is `known`, binds it to the request's logger and sets the header. */
export function assignId (
  request: FastifyRequest, reply: FastifyReply, source: RequestIdSource | null, known?: string
): string {
  const { id, err } = known === undefined ? makeId(request, source) : { id: known }
  request.log = reply.log = request.log.child({ request_id: id })
  reply.header('x-request-id', id)
  if (err !== undefined) logOf(request).error({ err }, 'the requestId option gave no usable id, so one was generated')
  return id
}

function makeId (request: FastifyRequest, source: RequestIdSource | null): { id: string, err?: unknown } {
  if (source === null) return { id: generateRequestId() }
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

/** Returns `req_` and 32 hexadecimal digits with 122 random bits. */
function generateRequestId (): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}
