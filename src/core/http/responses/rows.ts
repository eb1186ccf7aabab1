import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Id } from '../../ports/index.js'
import { isStorableId } from '../../shared/ids.js'
import type { Page } from '../../shared/paging.js'
import { parseSearch } from '../input.js'
import { HttpError } from '../wire-errors.js'
import { stateOf } from '../request.js'

const maxLinksLength = 4 * 1024

/** Sets the `Link` header of a page, and returns the page. */
export function linkPages<Row> (request: FastifyRequest, reply: FastifyReply, page: Page<Row>): Page<Row> {
  const links = formatLinks(request, page)
  // Clients limit headers: Node to 16 KiB, others to less.
  if (links.length <= maxLinksLength) reply.header('link', links)
  return page
}

/** Formats `Link` (RFC 8288) with the caller's filters, sort and page size. */
function formatLinks (request: FastifyRequest, { data, meta }: Page<unknown>): string {
  const { page, per_page: perPage, total_pages: totalPages, total_is_capped: isCapped = false } = meta
  const address = readAddress(request)
  let rest = ''
  const query = request.query as Record<string, string | number>
  for (const name in query) {
    if (name === 'page') continue
    const value = query[name]
    const understood = name === 'filter[q]' ? parseSearch(String(value)) : value
    if (understood !== undefined) rest += `&${encodeURIComponent(name)}=${encodeURIComponent(understood)}`
  }
  const last = Math.max(totalPages, 1)
  const hasNext = page < last || (isCapped && data.length === perPage)
  const links = [`<${address}?page=1${rest}>; rel="first"`]
  if (page > 1) links.push(`<${address}?page=${isCapped ? page - 1 : Math.min(page - 1, last)}${rest}>; rel="prev"`)
  if (hasNext) links.push(`<${address}?page=${page + 1}${rest}>; rel="next"`)
  if (!isCapped) links.push(`<${address}?page=${last}${rest}>; rel="last"`)
  return links.join(', ')
}

/** Throws a 404 for an id out of range, which no resource can have. */
export function storableId<ResourceId extends Id> (id: ResourceId): ResourceId {
  if (!isStorableId(id)) throw new HttpError('not_found')
  return id
}

/** Throws a 404 for `null`, which the ports also return for another tenant's resource. */
export function found<T> (resource: T | null): T {
  if (resource === null) throw new HttpError('not_found')
  return resource
}

/** Returns a request's address without its query: absolute if the vendor has set `publicUrl`, otherwise relative. */
export function readAddress (request: FastifyRequest): string {
  return `${stateOf(request).server.publicUrl}${readPath(request.originalUrl)}`
}

/** Visible ASCII that no URL contains (RFC 3986, appendix A). `>` would end a link. */
const notInUrls = /["<>\\^`{|}]/g

/** A path that needs no change: segments without such characters, each after one slash. */
const usualPath = /^(?:\/[^/"<>\\^`{|}]+)+$/

/**
 * Returns the path of a request URL without repeated and trailing slashes, which a lenient router ignores. In a link,
 * two leading slashes would mean another host. The router also ends a path at `#`.
 */
function readPath (url: string): string {
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  if (usualPath.test(path)) return path
  return path
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '')
    .replace(notInUrls, encodeURIComponent)
}
