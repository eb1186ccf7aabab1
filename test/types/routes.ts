import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync, FastifyPluginCallback } from 'fastify'
import { type RecruitingApiOptions, type RecruitingRoutes, defineList } from '../../src/index.js'

declare const plain: FastifyPluginAsync
declare const withCallback: FastifyPluginCallback
declare const typed: FastifyPluginAsyncTypebox
declare const typedWithCallback: FastifyPluginCallbackTypebox

/** `routes` accepts every kind of plugin. */
export const options: Array<Pick<RecruitingApiOptions, 'routes'>> = [
  { routes: plain },
  { routes: withCallback },
  { routes: typed },
  { routes: typedWithCallback },
  // @ts-expect-error not a plugin
  { routes: { prefix: '/a' } }
]

/** A plugin is typed without a type provider of its own. */
export const ownRoutes: RecruitingRoutes = async (app) => {
  const response = { 200: Type.Object({ data: Type.Integer() }) }
  const schema = { params: Type.Object({ id: Type.Integer() }), response }
  app.get('/:id', { config: { scopes: [] }, schema }, async ({ recruiting: { tenantId, fields }, params: { id } }) => {
    const texts: [string, readonly string[] | null | undefined] = [tenantId, fields?.candidate]
    // @ts-expect-error not a parameter
    id.toUpperCase()
    return { data: id + texts.length }
  })
  // @ts-expect-error not the declared response
  app.get('/text/:id', { config: { scopes: [] }, schema }, async () => ({ data: 'text' }))
}

const rows = defineList(Type.Object({ id: Type.Integer(), name: Type.String() }), {
  sort: ['id', 'name'],
  defaultSort: '-name',
  filters: { stage: Type.Union([Type.Literal('applied'), Type.Literal('offer')]), job_id: Type.Integer() }
})

/** A list is typed by its item, sort fields and filters, with any type provider. */
export const listRoutes: FastifyPluginAsync = async (app) => {
  app.get('/rows', { config: { scopes: [] }, schema: { querystring: rows.query, response: { 200: rows.page } } }, (request, reply) => rows.read(request, reply, {
    async list (tenantSlug: string, { filter, sort, offset, limit }) {
      const columns: Array<'id' | 'name'> = sort.map(({ field }) => field)
      const stage: 'applied' | 'offer' | undefined = filter.stage
      const jobId: number | undefined = filter.job_id
      // @ts-expect-error not a filter of the list
      const unknown: unknown = filter.jobId
      return [{ id: offset, name: [tenantSlug, columns, stage, jobId, unknown, limit].join() }]
    },
    count: async () => 1
  }))
  // @ts-expect-error rows without a name
  app.get('/ids', {}, (request, reply) => rows.read(request, reply, { list: async () => [{ id: 1 }], count: async () => 1 }))
}

// @ts-expect-error not a field of the list
defineList(Type.Object({ id: Type.Integer() }), { sort: ['id'], defaultSort: 'name' })
