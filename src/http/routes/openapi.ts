import { createHash } from 'node:crypto'
import type { FastifyPluginAsync } from 'fastify'

/** The document as it is sent. */
interface Served {
  body: Buffer
  /** A hash of the body, in quotes. */
  tag: string
}

/** Serves the document to everybody. It is formatted at the first request, and the same bytes are sent to each. */
export function openapiRoute (format: () => object): FastifyPluginAsync {
  return async (app) => {
    let served: Served | undefined
    app.get('/openapi.json', { exposeHeadRoute: true }, async (request, reply) => {
      const { body, tag } = served ??= serialize(format())
      // Weak, for the host may compress. Without `no-cache`, caches may keep a document for days after an update.
      reply.header('etag', `W/${tag}`).header('cache-control', 'no-cache')
      if (hasTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
      reply.header('content-type', 'application/json; charset=utf-8')
      return body
    })
  }
}

function serialize (document: object): Served {
  const body = Buffer.from(JSON.stringify(document))
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}

/** Whether the client has the document already (RFC 9110, section 13.1.2). */
function hasTag (ifNoneMatch = '', tag: string): boolean {
  const known = ifNoneMatch.split(',').map((text) => text.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}
