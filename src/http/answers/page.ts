import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from '../../shared/paging.js'
import { parseSearch } from '../input/list-query.js'
import { readPath } from '../input/path.js'

/** 4 KiB. */
const maxLinksLength = 4096

/** Sets the `Link` header of a page, and returns the page. */
export function linkPages<Row> (request: FastifyRequest, reply: FastifyReply, page: Page<Row>): Page<Row> {
  const links = formatLinks(request, page.meta.page, page.meta.total_pages)
  // Clients limit headers: Node to 16 KiB, others to less.
  if (links.length <= maxLinksLength) reply.header('link', links)
  return page
}

/** Formats `Link` (RFC 8288) with the caller's filters, sort and page size. */
function formatLinks ({ originalUrl, query }: FastifyRequest, page: number, totalPages: number): string {
  const path = readPath(originalUrl)
  let rest = ''
  for (const [name, value] of Object.entries(query as Record<string, string | number>)) {
    const understood = name === 'filter[q]' ? parseSearch(String(value)) : value
    if (name !== 'page' && understood !== undefined) rest += `&${encodeURIComponent(name)}=${encodeURIComponent(understood)}`
  }
  const last = Math.max(totalPages, 1)
  let links = `<${path}?page=1${rest}>; rel="first"`
  if (page > 1) links += `, <${path}?page=${Math.min(page - 1, last)}${rest}>; rel="prev"`
  if (page < last) links += `, <${path}?page=${page + 1}${rest}>; rel="next"`
  return `${links}, <${path}?page=${last}${rest}>; rel="last"`
}
