import type { FastifyPluginAsync } from 'fastify'
import { hasTag, tagOf } from '../../shared/files.js'
import { RateLimited } from '../schemas.js'
import { Type } from '../../shared/typebox.js'

/** The route in the host's document. */
const schema = {
  operationId: 'getOpenApiDocument',
  tags: ['document'],
  summary: 'Get the OpenAPI document of the public API',
  description: 'Needs no key.',
  security: [],
  response: {
    200: Type.Object(
      {},
      {
        description: 'The document',
        additionalProperties: true,
        headers: { etag: Type.String({ description: 'A hash of the document' }) }
      }
    ),
    304: Type.Null({ description: 'The document has not changed: If-None-Match has its tag' })
  }
}

interface OpenApiRouteOptions {
  format (): object
  /** Whether the host's document describes the route. */
  inHostDocument: boolean
  /** Whether the route may return 429. */
  isLimited: boolean
  config: object
}

/** Serves the document without a key. The first request formats it; later requests get the same bytes. */
export function openapiRoute ({ format, inHostDocument, isLimited, config }: OpenApiRouteOptions): FastifyPluginAsync {
  return async (app) => {
    let served: { body: Buffer, tag: string } | undefined
    const response = { ...schema.response, ...(isLimited ? { 429: RateLimited } : {}) }
    const described = inHostDocument ? { swaggerTransform: () => ({ schema: { ...schema, response } }) } : {}
    const options = { exposeHeadRoute: true, config: { ...config, ...described } as object }
    app.get('/openapi.json', options, async (request, reply) => {
      if (served === undefined) {
        const body = Buffer.from(JSON.stringify(format()))
        served = { body, tag: tagOf(body) }
      }
      const { body, tag } = served
      // Without `no-cache`, caches could serve an old document for days.
      reply.header('etag', `W/${tag}`).header('cache-control', 'no-cache')
      if (hasTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
      reply.header('content-type', 'application/json; charset=utf-8')
      return body
    })
  }
}
