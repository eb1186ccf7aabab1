import type { FastifyReply, FastifyRequest } from 'fastify'
import { readText, toLoggableError } from '../../observe/loggable-error.js'
import { type ErrorDetail, type WireErrorCode, readHttpError } from '../wire-errors.js'
import { readStage } from '../stage.js'

/** The answer to a failed request, and what to log. */
export interface Failure {
  code: WireErrorCode
  details: readonly ErrorDetail[]
  /** The error to log; `undefined` if it is the thrown one. */
  cause: unknown
  /** Whether a hook of the host threw it. */
  isFromHook: boolean
}

/** Finds out who threw an error and how to answer it. Our own code throws only `HttpError`. */
export function judgeFailure (error: unknown, request: FastifyRequest, reply: FastifyReply): Failure {
  const known = readHttpError(error)
  if (known !== null) return { ...known, isFromHook: false }
  const stage = readStage(request)
  // The handler passed the error to `reply.send`.
  if (stage === 'handling') return { code: 'internal_error', details: [], cause: toLoggableError(error), isFromHook: false }
  const message = stage === 'admitted' ? findBodyFault(error, request) : undefined
  if (message !== undefined) return { code: 'bad_request', details: [{ in: 'body', field: '', message }], cause: error, isFromHook: false }
  return { code: codeOf(readStatus(error, reply)), details: [], cause: error, isFromHook: true }
}

/** Codes that Fastify throws for an unreadable body. */
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

/** Reads the status as Fastify does: from the error, otherwise from the reply. */
function readStatus (error: unknown, { statusCode }: FastifyReply): number {
  const statuses = [Number(readText(error, 'statusCode')), Number(readText(error, 'status')), statusCode]
  return statuses.find((status) => status >= 400 && status <= 599) ?? 500
}
