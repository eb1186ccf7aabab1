import type { FastifyReply, FastifyRequest } from 'fastify'
import { readText } from '../../observe/loggable-error.js'
import { readField } from '../../shared/read-field.js'
import { commonHeaders, contentType, noteAnswer, readAnswer } from './answer.js'
import { type ErrorDetail, type WireErrorCode, wireErrors } from '../wire-errors.js'
import { type Failure, judgeFailure } from './failure.js'
import { logOf } from '../log.js'

const hookMessage = 'thrown by a hook of the host, not by the API'

/** Further parts of an error's answer. */
interface ErrorAnswer {
  /** The id of the request. */
  id: string
  /** Whether a 400 shows its details. */
  errorDetails: boolean
}

/** Sends an error in the API's format, and logs its cause. */
export function sendError (error: unknown, request: FastifyRequest, reply: FastifyReply, { id, errorDetails }: ErrorAnswer): FastifyReply {
  const failure = judgeFailure(error, request, reply)
  const { code, details } = failure
  const { status } = wireErrors[code]
  logFailure(error, failure, request)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (failure.isFromHook) keepRetryAfter(error, reply)
  const text = formatError(code, id, errorDetails && status === 400 ? details : undefined)
  reply.headers(commonHeaders).code(status).header('content-type', contentType)
  // These headers belong to an answer that a hook failed to send.
  for (const name of ['link', 'location', 'content-encoding']) reply.removeHeader(name)
  noteAnswer(reply, text)
  return reply.send(text)
}

function formatError (code: WireErrorCode, id: string, details: readonly ErrorDetail[] | undefined): string {
  return JSON.stringify({ error: { code, message: wireErrors[code].message, request_id: id, details } })
}

function logFailure (error: unknown, { code, details, cause = error, isFromHook }: Failure, request: FastifyRequest): void {
  const level = wireErrors[code].status >= 500 ? 'error' : 'info'
  const log = logOf(request)
  if (isFromHook) log[level]({ err: cause, code }, hookMessage)
  else if (level === 'error') log.error({ err: cause }, 'request failed')
  else if (code === 'bad_request') log.info({ details }, 'request refused')
}

/** Keeps only `Retry-After` of an error's headers: the others are meant for the host's own routes. */
function keepRetryAfter (error: unknown, reply: FastifyReply): void {
  const headers = readField(error, 'headers')
  const wait = readText(headers, 'retry-after') ?? readText(headers, 'Retry-After')
  if (wait !== undefined && /^[\w ,:]{1,40}$/.test(wait)) reply.header('retry-after', wait)
}

/**
 * Writes the answer to the raw response if a hook of the host throws while an error is sent. Fastify would send the text of
 * the hook's error.
 */
export function writeAnswer (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  logOf(request).error({ err: error }, hookMessage)
  const { raw } = reply.hijack()
  if (raw.headersSent) {
    raw.destroy()
    return
  }
  const { status, text } = readAnswer(reply)
  const kept = ['x-request-id', 'www-authenticate', 'retry-after'].filter((name) => reply.hasHeader(name))
  raw.writeHead(status, {
    'content-type': contentType, ...commonHeaders, ...Object.fromEntries(kept.map((name) => [name, reply.getHeader(name)]))
  })
  raw.end(request.method === 'HEAD' ? '' : text)
}
