import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { findJsonFault } from '../../shared/text.js'
import { findState } from '../request.js'
import { badRequest } from '../wire-errors.js'

/** 64 KiB. */
const bodyLimit = 65536

/**
 * Makes the scope accept only JSON bodies, whichever parsers the host has. Until the API reads the parsed body,
 * `request.body` is the text, so that hooks of the host cannot change it.
 */
export function isolateBodyParser (scope: FastifyInstance): void {
  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined)
    if (!isUtf8(body)) return done(unreadable({ message: 'is not encoded as UTF-8' }))
    const text = body.toString().replace(/^\uFEFF/, '')
    parseJson(request, text, (error, value) => {
      // A parser's message quotes the body, so it must not be logged.
      if (error !== null) return done(unreadable({ message: 'is not valid JSON' }))
      const fault = findJsonFault(value)
      if (fault !== null) return done(unreadable(fault))
      const state = findState(request)
      if (state !== null) state.body = value
      done(null, text)
    })
  })
}

function unreadable ({ field = '', message }: { field?: string, message: string }): Error {
  return badRequest({ in: 'body', field, message })
}
