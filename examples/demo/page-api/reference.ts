import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'

/** Serves Swagger UI for the API's document; see examples/07-reference-page.ts. */
export const referencePage: FastifyPluginAsync = async (app) => {
  const files = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))
  await app.register(fastifyStatic, { root: files, prefix: '/reference/', decorateReply: false })
  app.get('/reference/swagger-initializer.js', (_request, reply) => reply.type('text/javascript').send(
    "SwaggerUIBundle({ dom_id: '#swagger-ui', url: '/api/v1/public/openapi.json', validatorUrl: null })"
  ))
}
