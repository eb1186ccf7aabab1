import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListQuery, SortItem } from '../ports/index.js'

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

/** Reads one page and its total at once, and links it to its neighbours. */
export async function readPage<Row, Filter, Field extends string> (
  request: FastifyRequest,
  reply: FastifyReply,
  source: Source<Row, Filter, Field>,
  { page, perPage, sort, filter }: PageRequest<Filter, Field>
) {
  const [data, total] = await Promise.all([
    source.list({ filter, sort, offset: (page - 1) * perPage, limit: perPage }),
    source.count(filter)
  ])
  const totalPages = Math.ceil(total / perPage)
  reply.header('link', formatLinks(request, page, totalPages))
  return { data, meta: { page, per_page: perPage, total, total_pages: totalPages } }
}

/** RFC 8288, with the caller's own filters, sort and page size. */
function formatLinks (request: FastifyRequest, page: number, totalPages: number): string {
  const [path = ''] = request.originalUrl.split('?', 1)
  const last = Math.max(totalPages, 1)
  let rest = ''
  for (const [name, value] of Object.entries(request.query as Record<string, string | number>)) {
    if (name !== 'page') rest += `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  }
  const link = (rel: string, number: number) => `<${path}?page=${number}${rest}>; rel="${rel}"`
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', Math.min(page - 1, last)))
  if (page < last) links.push(link('next', page + 1))
  links.push(link('last', last))
  return links.join(', ')
}
