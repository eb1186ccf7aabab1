import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'

/** Serves Swagger UI for the API's document, with the page and settings of examples/07-reference-page.ts. */
export const referencePage: FastifyPluginAsync = async (app) => {
  const files = [
    new URL('../../reference', import.meta.url),
    new URL('.', import.meta.resolve('swagger-ui-dist/package.json'))
  ]
  await app.register(fastifyStatic, {
    root: files.map((url) => fileURLToPath(url)), prefix: '/reference', redirect: true, decorateReply: false
  })
}
