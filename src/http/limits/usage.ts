import type { FastifyReply } from 'fastify'
import { HttpError } from '../errors.js'

/** How much of a budget is used. */
export interface Usage {
  max: number
  remaining: number
  /** Milliseconds until the count begins anew. */
  ttl: number
  isExceeded: boolean
}

/** Throws `rate_limited`, and says when to come back. */
export function refuseRequest (reply: FastifyReply, usage: Usage): never {
  setUsage(reply, usage).header('retry-after', toSeconds(usage))
  throw new HttpError('rate_limited')
}

/** Sets the headers of the draft, under the names that `@fastify/rate-limit` gives them. */
export function setUsage (reply: FastifyReply, usage: Usage): FastifyReply {
  return reply
    .header('ratelimit-limit', usage.max)
    .header('ratelimit-remaining', usage.remaining)
    .header('ratelimit-reset', toSeconds(usage))
}

function toSeconds ({ ttl }: Usage): number {
  return Math.ceil(ttl / 1000)
}
