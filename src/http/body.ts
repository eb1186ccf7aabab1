import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { badRequest } from './errors.js'
import { isStorableJson } from './text.js'

/** 64 KiB. */
const bodyLimit = 65536

/** Makes JSON the only body the scope reads, whatever parsers the host has. */
export function ownBodyParser (scope: FastifyInstance): void {
  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined)
    if (!isUtf8(body)) return done(unreadable('is not encoded as UTF-8'))
    // The message of a parser quotes the body, so it goes no further.
    parseJson(request, body.toString(), (error, value) => {
      if (error !== null) return done(unreadable('is not valid JSON'))
      if (!isStorableJson(value)) return done(unreadable('holds a NUL or half of a surrogate pair'))
      done(null, value)
    })
  })
}

function unreadable (message: string): Error {
  return badRequest({ in: 'body', field: '', message })
}
