import type { FastifyReply, FastifyRequest } from 'fastify'
import { readText, toLoggableError } from '../../observe/logger.js'
import { readField } from '../../shared/fields.js'
import { logOf } from '../log.js'
import { commonHeaders, contentType, findState } from '../request.js'
import { type ErrorDetail, readHttpError, type WireErrorCode, wireErrors } from '../wire-errors.js'

/** The response to a failed request, and what to log. */
interface Failure {
  code: WireErrorCode
  details: readonly ErrorDetail[]
  /** The error to log; `undefined` if it is the thrown one. */
  cause: unknown
  /** Whether a host hook threw it. */
  isFromHook: boolean
}

/** Determines who threw an error and how to respond. Our own code throws only `HttpError`. */
function judgeFailure (error: unknown, request: FastifyRequest, reply: FastifyReply): Failure {
  const known = readHttpError(error)
  if (known !== null) return { ...known, isFromHook: false }
  // The handler passed the error to `reply.send`.
  if (findState(request)?.isHandling === true) {
    return { code: 'internal_error', details: [], cause: toLoggableError(error), isFromHook: false }
  }
  const message = findBodyFault(error, request)
  if (message !== undefined) {
    return { code: 'bad_request', details: [{ in: 'body', field: '', message }], cause: error, isFromHook: false }
  }
  return { code: codeOf(readStatus(error, reply)), details: [], cause: error, isFromHook: true }
}

/** Fastify's error codes for an unreadable body. */
const bodyFaults = new Map([
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'must be application/json'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'must be at most 64 KiB'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'must have the length that its Content-Length header gives']
])

function findBodyFault (error: unknown, { raw }: FastifyRequest): string | undefined {
  return raw.readableAborted ? 'must arrive whole' : bodyFaults.get(readText(error, 'code') ?? '')
}

const errorCodes = Object.keys(wireErrors) as WireErrorCode[]

const codes = new Map<number, WireErrorCode>([
  [401, 'unauthorized'], [403, 'forbidden'], [404, 'not_found'], [429, 'rate_limited'], [503, 'unavailable']
])

function codeOf (status: number): WireErrorCode {
  return codes.get(status) ?? (status < 500 ? 'bad_request' : 'internal_error')
}

/** Reads the status as Fastify does: from the error, otherwise from the reply. */
function readStatus (error: unknown, { statusCode }: FastifyReply): number {
  const statuses = [Number(readText(error, 'statusCode')), Number(readText(error, 'status')), statusCode]
  return statuses.find((status) => status >= 400 && status <= 599) ?? 500
}

const hookMessage = 'thrown by a host hook, not by the API'

/** `Retry-After` of a 503, unless a hook threw it or the host has set another value. */
const unavailableSeconds = 5

/** Sends an error in the API's format, and logs its cause. */
export function sendError (
  error: unknown, request: FastifyRequest, reply: FastifyReply,
  { id, errorDetails }: { id: string, errorDetails: boolean }
): FastifyReply {
  const failure = judgeFailure(error, request, reply)
  const { code, details } = failure
  const { status } = wireErrors[code]
  logFailure(error, failure, request)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (failure.isFromHook) keepRetryAfter(error, reply)
  else if (status === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', unavailableSeconds)
  const text = formatError(code, id, errorDetails && (status === 400 || details.length > 0) ? details : undefined)
  reply.headers(commonHeaders).code(status).header('content-type', contentType)
  // A response that was not sent may have set these headers.
  for (const name of ['link', 'location', 'content-encoding']) reply.removeHeader(name)
  return reply.send(text)
}

function formatError (code: WireErrorCode, id: string, details: readonly ErrorDetail[] | undefined): string {
  return JSON.stringify({ error: { code, message: wireErrors[code].message, request_id: id, details } })
}

function logFailure (
  error: unknown,
  { code, details, cause = error, isFromHook }: Failure,
  request: FastifyRequest
): void {
  const level = wireErrors[code].status >= 500 ? 'error' : 'info'
  const log = logOf(request)
  if (isFromHook) log[level]({ err: cause, code }, hookMessage)
  else if (level === 'error') log.error({ err: cause }, 'request failed')
  else if (code === 'bad_request' || details.length > 0) log.info({ details }, 'request rejected')
}

/** Keeps only an error's `Retry-After`: its other headers are for the host's own routes. */
function keepRetryAfter (error: unknown, reply: FastifyReply): void {
  const headers = readField(error, 'headers')
  const wait = readText(headers, 'retry-after') ?? readText(headers, 'Retry-After')
  if (wait !== undefined && /^[\w ,:]{1,40}$/.test(wait)) reply.header('retry-after', wait)
}

/** Writes the error itself if a host hook throws while one is sent: Fastify would send the hook's text. */
export function writeAnswer (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  logOf(request).error({ err: error }, hookMessage)
  const { raw } = reply.hijack()
  if (raw.headersSent) {
    raw.destroy()
    return
  }
  const code = errorCodes.find((known) => wireErrors[known].status === reply.statusCode) ?? 'internal_error'
  const text = formatError(code, findState(request)?.id ?? '', undefined)
  const kept = ['x-request-id', 'www-authenticate', 'retry-after'].filter((name) => reply.hasHeader(name))
  raw.writeHead(wireErrors[code].status, {
    'content-type': contentType,
    ...commonHeaders,
    ...Object.fromEntries(kept.map((name) => [name, reply.getHeader(name)]))
  })
  raw.end(request.method === 'HEAD' ? '' : text)
}
