import type { FastifyInstance, FastifyReply, onSendHookHandler } from 'fastify'

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
