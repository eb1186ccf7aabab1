import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { badRequest } from '../wire-errors.js'
import { findJsonFault } from '../../shared/text.js'

/** 64 KiB. */
const bodyLimit = 65536

const kBodyText = Symbol('body text')

interface ParsedRequest extends FastifyRequest {
  [kBodyText]?: string | null
}

/** Makes the scope accept only JSON bodies, whichever parsers the host has. */
export function isolateBodyParser (scope: FastifyInstance): void {
  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.decorateRequest(kBodyText, null)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (request: ParsedRequest, body: Buffer, done) => {
    if (body.length === 0) return done(null, undefined)
    if (!isUtf8(body)) return done(unreadable({ message: 'is not encoded as UTF-8' }))
    // A parser's message quotes the body, so it must not be logged.
    const text = body.toString().replace(/^\uFEFF/, '')
    parseJson(request, text, (error, value) => {
      if (error !== null) return done(unreadable({ message: 'is not valid JSON' }))
      const fault = findJsonFault(value)
      if (fault !== null) return done(unreadable(fault))
      request[kBodyText] = text
      done(null, value)
    })
  })
}

/** Parses the body as the client sent it, ignoring changes by hooks of the host. A missing body is `{}`. */
export function readBody (request: ParsedRequest): unknown {
  const text = request[kBodyText]
  return text === null || text === undefined ? {} : JSON.parse(text)
}

function unreadable ({ field = '', message }: { field?: string, message: string }): Error {
  return badRequest({ in: 'body', field, message })
}
