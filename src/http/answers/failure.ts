import type { FastifyReply, FastifyRequest } from 'fastify'
import { readText, toLoggableError } from '../../observe/loggable-error.js'
import { type ErrorDetail, type WireErrorCode, readHttpError } from '../errors.js'
import { readStage } from '../stage.js'

/** What to answer a request with that failed, and what to log. */
export interface Failure {
  code: WireErrorCode
  details: readonly ErrorDetail[]
  /** For the log; `undefined` if it is the error itself. */
  cause: unknown
  /** Whether a hook of the host threw it, and not the API. */
  isFromHook: boolean
}

/** Decides what an error that reached the scope's error handler means. Our own steps throw `HttpError` and nothing else. */
export function judgeFailure (error: unknown, request: FastifyRequest, reply: FastifyReply): Failure {
  const known = readHttpError(error)
  if (known !== null) return { ...known, isFromHook: false }
  const stage = readStage(request)
  // The handler has sent the error by itself.
  if (stage === 'handling') return { code: 'internal_error', details: [], cause: toLoggableError(error), isFromHook: false }
  const message = stage === 'admitted' ? findBodyFault(error, request) : undefined
  if (message !== undefined) return { code: 'bad_request', details: [{ in: 'body', field: '', message }], cause: error, isFromHook: false }
  return { code: codeOf(readStatus(error, reply)), details: [], cause: error, isFromHook: true }
}

/** The codes of what Fastify throws for a body that cannot be read. */
const bodyFaults = new Map([
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'must be application/json'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'must be at most 64 KiB'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'must have the length that its Content-Length header gives']
])

function findBodyFault (error: unknown, { raw }: FastifyRequest): string | undefined {
  return raw.readableAborted ? 'must arrive whole' : bodyFaults.get(readText(error, 'code') ?? '')
}

const codes = new Map<number, WireErrorCode>([
  [401, 'unauthorized'], [403, 'forbidden'], [404, 'not_found'], [429, 'rate_limited'], [503, 'unavailable']
])

function codeOf (status: number): WireErrorCode {
  return codes.get(status) ?? (status < 500 ? 'bad_request' : 'internal_error')
}

/** As Fastify reads it: the status of the error, or the one that the hook has set on the answer. */
function readStatus (error: unknown, { statusCode }: FastifyReply): number {
  const statuses = [Number(readText(error, 'statusCode')), Number(readText(error, 'status')), statusCode]
  return statuses.find((status) => status >= 400 && status <= 599) ?? 500
}
