import { type TSchema, Type } from '@sinclair/typebox'
import { type WireErrorCode, wireErrors } from '../errors.js'

/** A type array rather than a union: the serializer tells its members apart at no cost. */
export function Nullable<T extends TSchema> (schema: T) {
  return Type.Unsafe<T['static'] | null>({ ...schema, type: [schema.type, 'null'] })
}

/** One of a few texts, as an enum rather than a union: shorter in the document, faster to serialize. */
export function OneOf<const T extends string> (values: readonly T[], options: { description?: string, default?: NoInfer<T> } = {}) {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options })
}

const dateTime = { format: 'date-time', examples: ['2026-03-01T09:30:00.000Z'] }

export const DateTime = Type.String(dateTime)

export function DateTimeOf (description: string) {
  return Type.String({ ...dateTime, description })
}

export const eventIdExample = 'evt_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'

export const Meta = Type.Object({
  page: Type.Integer({ minimum: 1, description: 'As asked for, also beyond the last one', examples: [1] }),
  per_page: Type.Integer({ minimum: 1, maximum: 200, examples: [25] }),
  total: Type.Integer({ minimum: 0, description: 'How many items there are on all pages', examples: [1] }),
  total_pages: Type.Integer({ minimum: 0, description: 'total divided by per_page, rounded up', examples: [1] })
}, { title: 'PageMeta', description: 'Where in the list this page is' })

/** `headers` are for the document alone: what the answer carries besides. */
const linkHeaders = {
  link: Type.String({
    description: 'The first, prev, next and last page (RFC 8288), with the filters of this one',
    examples: ['</api/v1/public/acme/jobs?page=1>; rel="first", </api/v1/public/acme/jobs?page=1>; rel="last"']
  })
}

export function PageOf<T extends TSchema> (item: T, description: string) {
  return Type.Object({ data: Type.Array(item), meta: Meta }, { description, headers: linkHeaders })
}

export function DataOf<T extends TSchema> (item: T, description: string, headers: Record<string, TSchema> = {}) {
  return Type.Object({ data: item }, { description, headers })
}

export function NoContent (description: string) {
  return Type.Null({ description })
}

const ErrorDetail = Type.Object({
  in: OneOf(['path', 'query', 'body']),
  field: Type.String({ description: 'Such as event_types[0]; empty for a whole body', examples: ['per_page'] }),
  message: Type.String({ examples: ['must be <= 200'] })
}, { title: 'ErrorDetail' })

const Details = Type.Array(ErrorDetail, { description: 'What was wrong, where the vendor has it told' })

const challenge = {
  'www-authenticate': Type.String({ description: 'RFC 6750', examples: ['Bearer'] })
}

/** `bad_request` as a name like those of the other schemas: `BadRequest`. */
function formatTitle (code: WireErrorCode): string {
  return code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

const usage = {
  'retry-after': Type.Integer({ description: 'Seconds to wait for', examples: [60] }),
  'ratelimit-limit': Type.Integer({ description: 'Requests within the time', examples: [1000] }),
  'ratelimit-remaining': Type.Integer({ description: 'How many are left', examples: [0] }),
  'ratelimit-reset': Type.Integer({ description: 'Seconds until the count begins anew', examples: [60] })
}

function ErrorOf (code: WireErrorCode, headers: Record<string, TSchema> = {}) {
  const { message } = wireErrors[code]
  return Type.Object({
    error: Type.Object({
      code: Type.Literal(code),
      message: Type.Literal(message),
      request_id: Type.String({ description: 'Quote it when you ask for help', examples: ['req_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'] }),
      ...(code === 'bad_request' ? { details: Type.Optional(Details) } : {})
    })
  }, { title: formatTitle(code), description: message, headers })
}

/** The answers that every operation can give. */
export const errorResponses = {
  400: ErrorOf('bad_request'),
  401: ErrorOf('unauthorized', challenge),
  403: ErrorOf('forbidden'),
  404: ErrorOf('not_found'),
  500: ErrorOf('internal_error')
}

/** The answer that every operation can give as well where requests are limited. */
export const RateLimited = ErrorOf('rate_limited', usage)

export const maxPage = 2147483647
export const maxPerPage = 200

/** The query parameters that every list takes. */
export function pagingQuery (sortable: readonly string[], defaultSort: string) {
  const item = `-?(${sortable.join('|')})`
  return {
    page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1, description: 'Which page, from 1; one beyond the last is empty' }),
    per_page: Type.Integer({ minimum: 1, maximum: maxPerPage, default: 25, description: 'How many items a page has' }),
    sort: Type.String({
      pattern: `^${item}(,${item}){0,2}$`,
      default: defaultSort,
      examples: [`-${sortable.at(-1)}`],
      description: `up to 3 of ${sortable.join(', ')}, separated by commas; a leading minus sign sorts descending`
    })
  }
}

export const Search = Type.String({
  description: 'Literal text in any letter case, 1 to 200 characters after trimming; blank counts as absent',
  examples: ['ada']
})
export const UpdatedAfter = Type.String({
  format: 'date-time',
  description: 'Only what was updated strictly later',
  examples: ['2026-03-01T00:00:00Z']
})

/** Bounds are left out: an id out of range is one that does not exist. */
function idOf (what: string) {
  return Type.Integer({ description: `The id of the ${what}`, examples: [1] })
}
export const WebhookParams = Type.Object({ id: idOf('webhook') })
export const DeliveryParams = Type.Object({ id: idOf('webhook'), delivery_id: idOf('delivery') })
