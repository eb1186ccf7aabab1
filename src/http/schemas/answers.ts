import { type TSchema, Type } from '@sinclair/typebox'

const Meta = Type.Object({
  page: Type.Integer({ minimum: 1, description: 'The requested page, even beyond the last one', examples: [1] }),
  per_page: Type.Integer({ minimum: 1, maximum: 200, examples: [25] }),
  total: Type.Integer({ minimum: 0, description: 'Number of items on all pages', examples: [1] }),
  total_pages: Type.Integer({ minimum: 0, description: '`total` divided by `per_page`, rounded up', examples: [1] })
}, { title: 'PageMeta', description: 'The position of the page in the list' })

/** Appears only in the document. */
const linkHeaders = {
  link: Type.String({
    description: 'Links to the first, previous, next and last page (RFC 8288), with the same filters. Left out if longer than 4 KiB',
    examples: ['</api/v1/public/acme/jobs?page=1>; rel="first", </api/v1/public/acme/jobs?page=1>; rel="last"']
  })
}

/** An answer with one page of a list. */
export function PageOf<T extends TSchema> (item: T, description: string) {
  return Type.Object({ data: Type.Array(item), meta: Meta }, { description, headers: linkHeaders })
}

/** An answer with one item. */
export function DataOf<T extends TSchema> (item: T, description: string, headers: Record<string, TSchema> = {}) {
  return Type.Object({ data: item }, { description, headers })
}

/** An answer without a body. */
export function NoContent (description: string) {
  return Type.Null({ description })
}
