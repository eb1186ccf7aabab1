import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListQuery, SortItem } from '../../ports/index.js'
import { parseSearch } from '../input/list-query.js'
import { readPath } from '../input/path.js'

/** 4 KiB. */
const maxLinksLength = 4096

interface PageRequest<Filter, Field extends string> {
  page: number
  perPage: number
  sort: ReadonlyArray<SortItem<Field>>
  filter: Filter
}

interface Source<Row, Filter, Field extends string> {
  list (query: ListQuery<Filter, Field>): Promise<Row[]>
  count (filter: Filter): Promise<number>
}

/** Reads one page and its total in parallel, and sets the `Link` header. */
export async function readPage<Row, Filter, Field extends string> (
  request: FastifyRequest,
  reply: FastifyReply,
  source: Source<Row, Filter, Field>,
  { page, perPage, sort, filter }: PageRequest<Filter, Field>
) {
  // The total takes longer, so it starts first. If the list rejects, the count must not become an unhandled rejection.
  const counting = source.count(filter)
  counting.catch(() => {})
  const data = await source.list({ filter, sort, offset: (page - 1) * perPage, limit: perPage })
  const total = await counting
  const totalPages = Math.ceil(total / perPage)
  const links = formatLinks(request, page, totalPages)
  // Clients limit headers: Node to 16 KiB, others to less.
  if (links.length <= maxLinksLength) reply.header('link', links)
  return { data, meta: { page, per_page: perPage, total, total_pages: totalPages } }
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
