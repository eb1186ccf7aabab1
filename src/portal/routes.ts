import type { FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema, onSendHookHandler } from 'fastify'
import { hasTag } from '../http/answers/etag.js'
import type { PortalFile } from './assets.js'
import type { SecurityHeaders } from './security-headers.js'

const kFile = Symbol('portal file')

interface ServingReply extends FastifyReply {
  [kFile]?: PortalFile | null
}

// A host without @fastify/swagger has no type for it.
const hidden: FastifySchema & { hide: true } = { hide: true }

/** Serves the files of the portal at their exact paths, so that a tenant with the name `portal` keeps its API. */
export function portalRoutes (files: readonly PortalFile[], security: SecurityHeaders): FastifyPluginAsync {
  const onSend = restoreFile(security)
  return async (app) => {
    app.decorateReply(kFile, null)
    for (const file of files) {
      app.get(`/portal/${file.path}`, { exposeHeadRoute: true, schema: hidden, onSend }, async (request, reply: ServingReply) => {
        reply[kFile] = file
        if (isKnown(request, file)) return reply.code(304).send()
        reply.headers(file.headers)
        return file.body
      })
    }
  }
}

/**
 * Undoes changes that hooks of the host made to a file, and to headers that protect it. Compressed bodies are kept. Hooks
 * of a route run after the host's hooks, whenever the host adds them.
 */
function restoreFile (security: SecurityHeaders): onSendHookHandler<unknown> {
  return function (request, reply: ServingReply, _payload, done) {
    const file = reply[kFile]
    if (!file) return done()
    for (const [name, value] of Object.entries(security)) {
      // Helmet sets its headers on the raw response.
      if (value === null) reply.removeHeader(name).raw.removeHeader(name)
      else reply.header(name, value)
    }
    // Weak, because the host may compress.
    reply.headers({ ...file.headers, etag: `W/${file.tag}` })
    if (isKnown(request, file)) {
      reply.code(304).removeHeader('content-type')
      return done(null, '')
    }
    reply.code(200)
    if (reply.hasHeader('content-encoding')) return done()
    reply.removeHeader('content-length')
    done(null, file.body)
  }
}

function isKnown (request: FastifyRequest, { tag }: PortalFile): boolean {
  return hasTag(request.headers['if-none-match'], tag)
}
