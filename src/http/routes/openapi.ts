import type { FastifyPluginAsync } from 'fastify'

/** Serves the document to everybody; `format` is called once, at the first request. */
export function openapiRoute (format: () => object): FastifyPluginAsync {
  return async (app) => {
    let document: string | undefined
    app.get('/openapi.json', { exposeHeadRoute: true }, async (_request, reply) => {
      document ??= JSON.stringify(format())
      reply.header('content-type', 'application/json; charset=utf-8')
      return document
    })
  }
}
