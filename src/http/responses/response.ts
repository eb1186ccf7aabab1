import type { FastifyInstance, FastifyReply, onSendHookHandler, RouteHandlerMethod } from 'fastify'
import { readLimitedSerializer } from './visible-fields.js'
import { logOf } from '../log.js'
import { assertStage, setStage } from '../stage.js'
import { toHttpError } from '../wire-errors.js'

/** An answer of the API; `text` is `null` without a body. */
interface Answer {
  status: number
  text: string | null
}

const kAnswer = Symbol('answer')

interface AnsweringReply extends FastifyReply {
  [kAnswer]?: Answer | null
}

/** Media type of every answer with a body. */
export const contentType = 'application/json; charset=utf-8'

/** Decorates the replies of a scope with their answer. */
export function decorateAnswer (scope: FastifyInstance): void {
  scope.decorateReply(kAnswer, null)
}

/** Headers of every answer. */
export const commonHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Stores the answer with the current status, for `restoreAnswer`. */
export function noteAnswer (reply: AnsweringReply, text: string | null): void {
  reply[kAnswer] = { status: reply.statusCode, text }
}

export function readAnswer (reply: AnsweringReply): Answer {
  return reply[kAnswer] as Answer
}

/**
 * Undoes changes that `onSend` hooks of the host made to an answer. Compressed bodies and a 304 of the host are kept: they
 * send the same answer in another form.
 */
export const restoreAnswer: onSendHookHandler<unknown> = function (_request, reply: AnsweringReply, payload, done) {
  const answer = reply[kAnswer]
  if (!answer || reply.statusCode === 304 || isIntact(reply, answer, payload)) return done()
  reply.code(answer.status).headers(commonHeaders)
  if (answer.text === null) reply.removeHeader('content-type')
  else reply.header('content-type', contentType)
  if (reply.hasHeader('content-encoding')) return done()
  reply.removeHeader('content-length')
  done(null, answer.text)
}

/** Returns whether no hook has changed the answer. */
function isIntact (reply: FastifyReply, { status, text }: Answer, payload: unknown): boolean {
  return payload === text && reply.statusCode === status && reply.getHeader('content-type') === contentType &&
    reply.getHeader('content-length') === undefined &&
    reply.getHeader('cache-control') === commonHeaders['cache-control'] &&
    reply.getHeader('x-content-type-options') === commonHeaders['x-content-type-options']
}

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
      logOf(request).error({ err: error.cause ?? error }, 'request failed after its response')
      return reply
    }
  }
}

function send (payload: unknown, reply: FastifyReply): unknown {
  if (payload === undefined) {
    noteAnswer(reply.code(204), null)
    return reply.send()
  }
  const serialize = readLimitedSerializer(reply) ?? reply.getSerializationFunction(String(reply.statusCode))
  if (serialize === undefined) throw new Error(`the route declares no response for status ${reply.statusCode}`)
  const text: unknown = serialize(payload as Record<string, unknown>)
  reply.header('content-type', contentType)
  noteAnswer(reply, text as string)
  return text
}
