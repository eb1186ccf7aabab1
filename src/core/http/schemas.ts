import type { TSchema } from '@sinclair/typebox'
import { tokenExample } from '../api/parameters.js'
import { OneOf, Type } from '../shared/typebox.js'
import { type WireErrorCode, wireErrors } from './wire-errors.js'

const Meta = Type.Object({
  page: Type.Integer({ minimum: 1, description: 'The requested page, even beyond the last one', examples: [1] }),
  per_page: Type.Integer({ minimum: 1, maximum: 200, examples: [25] }),
  total: Type.Integer({ minimum: 0, description: 'Number of items on all pages', examples: [1] }),
  total_pages: Type.Integer({ minimum: 0, description: '`total` divided by `per_page`, rounded up', examples: [1] })
}, { title: 'PageMeta', description: 'The position of the page in the list' })

/** Only for the document. */
const linkHeaders = {
  link: Type.String({
    description:
      'Links to the first, previous, next and last page (RFC 8288), with the same filters. ' +
      'Omitted if longer than 4 KiB',
    examples: ['</api/v1/public/acme/jobs?page=1>; rel="first", </api/v1/public/acme/jobs?page=1>; rel="last"']
  })
}

const LogMeta = Type.Object(
  {
    ...Meta.properties,
    total: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'Number of items on all pages, counted up to 10,000',
      examples: [1]
    }),
    total_is_capped: Type.Optional(
      Type.Literal(true, {
        description: 'Present if there are more items than `total`. Further pages exist; `Link` has no last page'
      })
    )
  },
  { title: 'LogPageMeta', description: 'The position of the page in the log' }
)

const followMeta = {
  next_token: Type.String({
    description: 'Send it as `token` to read the next page. Store the last one to continue later',
    examples: [tokenExample]
  }),
  has_more: Type.Boolean({ description: 'Whether more items can be read now', examples: [false] })
}
const FollowMeta = Type.Object(followMeta, { title: 'TokenMeta', description: 'How to read the next page' })
const SyncMeta = Type.Object(
  {
    ...followMeta,
    events_token: Type.Optional(Type.String({
      description:
        'Only at the end of a sync that began without `token`: the `token` of `GET …/events` for later events',
      examples: [tokenExample]
    }))
  },
  { title: 'SyncMeta', description: 'How to read the next page, and the events that follow' }
)

const metas = { page: Meta, log: LogMeta, follow: FollowMeta, sync: SyncMeta }

/** A response with one page: of a list, of a log that can be too long to count, after a token, or of a sync. */
export function PageOf<Shape extends keyof typeof metas, Item extends TSchema> (
  shape: Shape, item: Item, description = ''
) {
  const links = shape === 'page' || shape === 'log' ? { headers: linkHeaders } : {}
  return Type.Object({ data: Type.Array(item), meta: metas[shape] }, { description, ...links })
}

const ErrorDetail = Type.Object({
  in: OneOf(['path', 'query', 'header', 'body']),
  field: Type.String({ description: 'Such as event_types[0]; empty for the whole body', examples: ['per_page'] }),
  message: Type.String({ examples: ['must be <= 200'] })
}, { title: 'ErrorDetail' })

const Details = Type.Array(ErrorDetail, { description: 'The invalid fields, if the vendor enables details' })

const challenge = {
  'www-authenticate': Type.String({ description: 'RFC 6750', examples: ['Bearer'] })
}

/** Converts `bad_request` to `BadRequest`. */
function formatTitle (code: WireErrorCode): string {
  return code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

const usage = {
  'retry-after': Type.Integer({ description: 'Seconds to wait', examples: [60] }),
  'ratelimit-limit': Type.Integer({ description: 'Requests allowed per window', examples: [1000] }),
  'ratelimit-remaining': Type.Integer({ description: 'Requests left in the window', examples: [0] }),
  'ratelimit-reset': Type.Integer({ description: 'Seconds until the window ends', examples: [60] })
}

/** `also` is a second code of the same status, and what it means in a few words. */
function ErrorOf (
  code: WireErrorCode, headers: Record<string, TSchema> = {},
  also: { code: WireErrorCode, title: string, text: string } | null = null
) {
  const { message } = wireErrors[code]
  return Type.Object(
    {
      error: Type.Object({
        code: also === null ? Type.Literal(code) : OneOf([code, also.code]),
        message: also === null ? Type.Literal(message) : OneOf([message, wireErrors[also.code].message]),
        request_id: Type.String({
          description: 'Quote it when you ask for help',
          examples: ['req_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e']
        }),
        ...(code === 'bad_request' || code === 'forbidden' ? { details: Type.Optional(Details) } : {})
      })
    },
    {
      title: also?.title ?? formatTitle(code),
      description: also === null ? message : `${message}, or ${also.text}`,
      headers
    }
  )
}

/** Errors of every operation. Slow reads, a full share, and the host's hooks, key lookup and storage cause the 503. */
export const errorResponses = {
  400: ErrorOf('bad_request'),
  401: ErrorOf('unauthorized', challenge),
  403: ErrorOf('forbidden', {}, { code: 'suspended', title: 'Forbidden', text: 'the tenant is suspended' }),
  404: ErrorOf('not_found'),
  500: ErrorOf('internal_error'),
  503: ErrorOf('unavailable', {
    'retry-after': Type.String({ description: 'Seconds to wait, or a date (RFC 9110), if known', examples: ['60'] })
  })
}

/** An additional error of operations that accept `Idempotency-Key`, and of host operations that change data. */
export const Conflict = ErrorOf('conflict', {
  'retry-after': Type.Integer({ description: 'Seconds to wait, if the same request is running', examples: [1] })
})

/** The 500 of operations that accept `Idempotency-Key`. */
export const FailedOrUnknown = ErrorOf('internal_error', {}, {
  code: 'outcome_unknown', title: 'OutcomeUnknown', text: 'an unknown outcome'
})

/** An additional error of operations with tokens. */
export const SyncTokenExpired = ErrorOf('sync_token_expired')

/** An additional error of operations that accept `Idempotency-Key`. */
export const Full = ErrorOf('rate_limited', { 'retry-after': usage['retry-after'] })

/** An additional error of every operation if requests are limited. */
export const RateLimited = ErrorOf('rate_limited', usage)
