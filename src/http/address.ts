import type { FastifyRequest } from 'fastify'
import { stateOf } from './request.js'

/** Returns a request's address without its query: absolute if the vendor has set `publicUrl`, otherwise relative. */
export function readAddress (request: FastifyRequest): string {
  return `${stateOf(request).publicUrl}${readPath(request.originalUrl)}`
}

/** Visible ASCII that no URL contains (RFC 3986, appendix A). `>` would end a link. */
const notInUrls = /["<>\\^`{|}]/g

/** A path that needs no change: parts without such characters, each after one slash. */
const usualPath = /^(?:\/[^/"<>\\^`{|}]+)+$/

/**
 * Returns the path of a request URL without repeated and trailing slashes, which a lenient router ignores. In a link,
 * two slashes at the start would name another host. The router ends a path at a `#` too.
 */
export function readPath (url: string): string {
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  if (usualPath.test(path)) return path
  return path
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(notInUrls, encodeURIComponent)
}
