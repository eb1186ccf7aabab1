import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync, FastifyPluginCallback } from 'fastify'
import type { RecruitingApiOptions } from '../../src/index.js'

declare const plugins: [FastifyPluginAsync, FastifyPluginCallback, FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox]

const [plain, withCallback, typed, typedWithCallback] = plugins

/** Plugins of every kind are taken, and one that is written in place is typed by its schemas. */
export const options: Array<Pick<RecruitingApiOptions, 'routes'>> = [
  { routes: plain },
  { routes: withCallback },
  { routes: typed },
  { routes: typedWithCallback },
  {
    async routes (app) {
      app.get('/a', { config: { scopes: [] }, schema: { querystring: Type.Object({ limit: Type.Integer() }) } }, async ({ query }) => query.limit.toFixed())
    }
  },
  // @ts-expect-error not a plugin
  { routes: { prefix: '/a' } }
]
