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

export const DateTime = Type.String({ format: 'date-time', examples: ['2026-03-01T09:30:00.000Z'] })

export const Meta = Type.Object({
  page: Type.Integer({ minimum: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: 200 }),
  total: Type.Integer({ minimum: 0 }),
  total_pages: Type.Integer({ minimum: 0, description: 'total divided by per_page, rounded up' })
}, { description: 'Pagination metadata' })

export function PageOf<T extends TSchema> (item: T, description: string) {
  return Type.Object({ data: Type.Array(item), meta: Meta }, { description })
}

export function DataOf<T extends TSchema> (item: T, description: string) {
  return Type.Object({ data: item }, { description })
}

export function NoContent (description: string) {
  return Type.Null({ description })
}

const ErrorDetail = Type.Object({
  in: OneOf(['path', 'query', 'body']),
  field: Type.String({ description: 'Empty for a whole body' }),
  message: Type.String()
})

function ErrorOf (code: WireErrorCode) {
  const { message } = wireErrors[code]
  return Type.Object({
    error: Type.Object({
      code: Type.Literal(code),
      message: Type.Literal(message),
      request_id: Type.String(),
      ...(code === 'bad_request' ? { details: Type.Optional(Type.Array(ErrorDetail)) } : {})
    })
  }, { description: message })
}

/** The answers that every operation can give. */
export const errorResponses = {
  400: ErrorOf('bad_request'),
  401: ErrorOf('unauthorized'),
  403: ErrorOf('forbidden'),
  404: ErrorOf('not_found'),
  500: ErrorOf('internal_error')
}

export const maxPage = 2147483647
export const maxPerPage = 200

/** The query parameters that every list takes. */
export function pagingQuery (sortable: readonly string[], defaultSort: string) {
  const item = `-?(${sortable.join('|')})`
  return {
    page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: maxPerPage, default: 25 }),
    sort: Type.String({
      pattern: `^${item}(,${item}){0,2}$`,
      default: defaultSort,
      description: `up to 3 of ${sortable.join(', ')}, separated by commas; a leading minus sign sorts descending`
    })
  }
}

export const Search = Type.String({ description: 'Literal text in any letter case, 1 to 200 characters after trimming' })
export const UpdatedAfter = Type.String({ format: 'date-time', description: 'Only what was updated strictly later' })

/** Bounds are left out: an id out of range is one that does not exist. */
export const Id = Type.Integer()
export const WebhookParams = Type.Object({ id: Id })
export const DeliveryParams = Type.Object({ id: Id, delivery_id: Id })
