import { RecruitingApiError, isRecruitingApiError } from '../errors.js'
import type { Hold } from '../ports/index.js'

/** The error of calls that would send notifications from a storage that is held. */
export function heldError (reason: Hold['reason']): RecruitingApiError {
  const problem = reason === 'copy' ? 'the database is a copy' : 'the database belongs to another delivery.environment'
  return new RecruitingApiError(
    'held',
    `${problem}: nothing is sent until you call adopt, or run npx fastify-recruiting-api adopt`
  )
}

export function isHeldError (error: unknown): error is RecruitingApiError {
  return isRecruitingApiError(error) && error.code === 'held'
}

/** The log line of a process that must not send notifications. */
export const heldMessage = 'deliveries are held'
