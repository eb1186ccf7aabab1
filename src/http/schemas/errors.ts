import { type TSchema, Type } from '@sinclair/typebox'
import { type WireErrorCode, wireErrors } from '../errors.js'
import { OneOf } from './types.js'

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

/** The answers that every operation can give. Hooks of the host cause the 503. */
export const errorResponses = {
  400: ErrorOf('bad_request'),
  401: ErrorOf('unauthorized', challenge),
  403: ErrorOf('forbidden'),
  404: ErrorOf('not_found'),
  500: ErrorOf('internal_error'),
  503: ErrorOf('unavailable', { 'retry-after': Type.String({ description: 'Seconds to wait for, or a date (RFC 9110), if the service knows', examples: ['60'] }) })
}

/** The answer that operations of the host can give as well when they change something. */
export const Conflict = ErrorOf('conflict')

/** The answer that every operation can give as well where requests are limited. */
export const RateLimited = ErrorOf('rate_limited', usage)
