import type { FastifyInstance, FastifyReply, onSendHookHandler } from 'fastify'

/** What the API has decided to answer; `text` is `null` for an answer without a body. */
interface Answer {
  status: number
  text: string | null
}

const kAnswer = Symbol('answer')

interface AnsweringReply extends FastifyReply {
  [kAnswer]?: Answer | null
}

/** The media type of every answer with a body. */
export const contentType = 'application/json; charset=utf-8'

/** Lets the replies of a scope keep their answer. */
export function decorateAnswer (scope: FastifyInstance): void {
  scope.decorateReply(kAnswer, null)
}

/** Every answer has them. */
export const commonHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Notes the answer, with the status that the reply has, so that `restoreAnswer` finds it. */
export function noteAnswer (reply: AnsweringReply, text: string | null): void {
  reply[kAnswer] = { status: reply.statusCode, text }
}

/** The answer that was noted. */
export function readAnswer (reply: AnsweringReply): Answer {
  return reply[kAnswer] as Answer
}

/**
 * Takes back what `onSend` hooks of the host made of an answer, so that clients get what the API said. Compressed bodies
 * and a 304 of the host pass: these are the same answer, sent otherwise.
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

/** Whether no hook has changed anything. */
function isIntact (reply: FastifyReply, { status, text }: Answer, payload: unknown): boolean {
  return payload === text && reply.statusCode === status && reply.getHeader('content-type') === contentType &&
    reply.getHeader('content-length') === undefined &&
    reply.getHeader('cache-control') === commonHeaders['cache-control'] &&
    reply.getHeader('x-content-type-options') === commonHeaders['x-content-type-options']
}
