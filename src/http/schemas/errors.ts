import type { TSchema } from '@sinclair/typebox'
import { type WireErrorCode, wireErrors } from '../wire-errors.js'
import { OneOf } from '../../shared/schemas.js'
import { Type } from '../../shared/typebox.js'

const ErrorDetail = Type.Object({
  in: OneOf(['path', 'query', 'header', 'body']),
  field: Type.String({ description: 'For example event_types[0]; empty for the whole body', examples: ['per_page'] }),
  message: Type.String({ examples: ['must be <= 200'] })
}, { title: 'ErrorDetail' })

const Details = Type.Array(ErrorDetail, { description: 'What was wrong, if the vendor enables details' })

const challenge = {
  'www-authenticate': Type.String({ description: 'RFC 6750', examples: ['Bearer'] })
}

/** Turns `bad_request` into `BadRequest`. */
function formatTitle (code: WireErrorCode): string {
  return code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

const usage = {
  'retry-after': Type.Integer({ description: 'Seconds to wait', examples: [60] }),
  'ratelimit-limit': Type.Integer({ description: 'Requests allowed per window', examples: [1000] }),
  'ratelimit-remaining': Type.Integer({ description: 'Requests left in the window', examples: [0] }),
  'ratelimit-reset': Type.Integer({ description: 'Seconds until the window ends', examples: [60] })
}

function ErrorOf (code: WireErrorCode, headers: Record<string, TSchema> = {}) {
  const { message } = wireErrors[code]
  return Type.Object(
    {
      error: Type.Object({
        code: Type.Literal(code),
        message: Type.Literal(message),
        request_id: Type.String({
          description: 'Quote it when you ask for help',
          examples: ['req_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e']
        }),
        ...(code === 'bad_request' ? { details: Type.Optional(Details) } : {})
      })
    },
    { title: formatTitle(code), description: message, headers }
  )
}

/** Errors of every operation. Only the host causes the 503: its hooks, key lookup or storage. */
export const errorResponses = {
  400: ErrorOf('bad_request'),
  401: ErrorOf('unauthorized', challenge),
  403: ErrorOf('forbidden'),
  404: ErrorOf('not_found'),
  500: ErrorOf('internal_error'),
  503: ErrorOf('unavailable', {
    'retry-after': Type.String({ description: 'Seconds to wait, or a date (RFC 9110), if known', examples: ['60'] })
  })
}

/** Also returned by operations that accept `Idempotency-Key`, and by the host's operations that change data. */
export const Conflict = ErrorOf('conflict', {
  'retry-after': Type.Integer({ description: 'Seconds to wait, if the same request is running', examples: [1] })
})

/** A further error of a sync. */
export const SyncTokenExpired = ErrorOf('sync_token_expired')

/** A further error of every operation if requests are limited. */
export const RateLimited = ErrorOf('rate_limited', usage)
