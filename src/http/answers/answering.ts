import type { FastifyReply, RouteHandlerMethod } from 'fastify'
import { commonHeaders, contentType, noteAnswer } from './answer.js'
import { toHttpError } from '../wire-errors.js'
import { logOf } from '../log.js'
import { assertStage, setStage } from '../stage.js'

/**
 * Runs a handler and serializes its result to text, because objects would pass through the host's `preSerialization`
 * hooks. Turns errors into an `HttpError`.
 */
export function answering (handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    assertStage(request, 'ready')
    setStage(request, 'handling')
    reply.headers(commonHeaders)
    try {
      const payload: unknown = await handler.call(this, request, reply)
      setStage(request, null)
      // A handler of the host may already have called `reply.send`.
      return reply.sent ? reply : send(payload, reply)
    } catch (thrown) {
      setStage(request, null)
      const error = toHttpError(thrown)
      if (!reply.sent) throw error
      logOf(request).error({ err: error.cause ?? error }, 'request failed after its answer')
      return reply
    }
  }
}

function send (payload: unknown, reply: FastifyReply): unknown {
  if (payload === undefined) {
    noteAnswer(reply.code(204), null)
    return reply.send()
  }
  const serialize = reply.getSerializationFunction(String(reply.statusCode))
  if (serialize === undefined) throw new Error(`the route declares no response for status ${reply.statusCode}`)
  const text: unknown = serialize(payload as Record<string, unknown>)
  reply.header('content-type', contentType)
  noteAnswer(reply, text as string)
  return text
}
