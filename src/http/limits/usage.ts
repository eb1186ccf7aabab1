import type { FastifyReply } from 'fastify'
import { HttpError } from '../wire-errors.js'

/** The usage of a budget. */
export interface Usage {
  max: number
  remaining: number
  /** Milliseconds until the count restarts. */
  ttl: number
  isExceeded: boolean
}

/** Throws `rate_limited` and sets `Retry-After`. */
export function refuseRequest (reply: FastifyReply, usage: Usage): never {
  setUsage(reply, usage).header('retry-after', toSeconds(usage))
  throw new HttpError('rate_limited')
}

/** Sets the RateLimit headers, with the names that `@fastify/rate-limit` uses. */
export function setUsage (reply: FastifyReply, usage: Usage): FastifyReply {
  return reply
    .header('ratelimit-limit', usage.max)
    .header('ratelimit-remaining', usage.remaining)
    .header('ratelimit-reset', toSeconds(usage))
}

function toSeconds ({ ttl }: Usage): number {
  return Math.ceil(ttl / 1000)
}
