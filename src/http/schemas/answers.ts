import { type TSchema, Type } from '@sinclair/typebox'

const Meta = Type.Object({
  page: Type.Integer({ minimum: 1, description: 'As asked for, also beyond the last one', examples: [1] }),
  per_page: Type.Integer({ minimum: 1, maximum: 200, examples: [25] }),
  total: Type.Integer({ minimum: 0, description: 'How many items there are on all pages', examples: [1] }),
  total_pages: Type.Integer({ minimum: 0, description: 'total divided by per_page, rounded up', examples: [1] })
}, { title: 'PageMeta', description: 'Where in the list this page is' })

/** `headers` are for the document alone: what the answer carries besides. */
const linkHeaders = {
  link: Type.String({
    description: 'The first, prev, next and last page (RFC 8288), with the filters of this one; left out above 4 KiB',
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
