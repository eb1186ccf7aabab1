import t from 'tap'
import type { RouteOptions } from 'fastify'
import { type TSchema, Type } from '@sinclair/typebox'
import { formatDocument } from '../../src/http/document/document.js'
import type { OpenApi } from '../fixtures/api/document.js'

function format (route: Partial<Omit<RouteOptions, 'schema'>> & { schema?: object }): OpenApi {
  const whole = { method: 'GET', url: '/:tenant_slug/interviews/:id', handler () {}, ...route } as RouteOptions
  return JSON.parse(JSON.stringify(formatDocument([whole], {}, { openapi: { info: {}, servers: [], inHostDocument: false }, publicUrl: '' })))
}

const path = '/{tenant_slug}/interviews/{id}'

t.test('a route that says nothing about itself is documented by its path', async (t) => {
  const { paths, tags, components } = format({})
  const { security, description, parameters, ...rest } = paths[path]?.get ?? {}
  t.same(security, [{ apiKey: [] }])
  t.equal(description, 'Needs no scope.')
  t.same(parameters?.map(({ name, in: place, required }) => [name, place, required]), [['tenant_slug', 'path', true], ['id', 'path', true]])
  t.same(rest, { responses: {} })
  t.same(tags.map(({ name }) => name), ['events'])
  t.equal(components.securitySchemes.apiKey?.description, 'An API key of the tenant. It may be limited to networks, and to some fields of candidates and jobs. Each operation lists the scopes that the key needs.')
})

t.test('a route with several methods is an operation of each', async (t) => {
  const { paths } = format({ method: ['PUT', 'PATCH'] })
  t.same(Object.keys(paths[path] ?? {}), ['put', 'patch'])
})

t.test('a tag that the plugin does not have is listed with its name', async (t) => {
  const { tags } = format({ schema: { tags: ['interviews'] } })
  t.same(tags[0], { name: 'interviews', description: 'interviews' })
})

t.test('scopes of both kinds are said together', async (t) => {
  const { paths } = format({ config: { scopes: ['a:read', 'b:read'], anyScope: ['c:read', 'c:write'] } })
  const { security, description } = paths[path]?.get ?? {}
  t.equal(description, 'Needs `a:read` and `b:read`, and `c:read` or `c:write`.')
  t.same(security, [{ apiKey: ['a:read', 'b:read', 'c:read'] }, { apiKey: ['a:read', 'b:read', 'c:write'] }])
})

t.test('a response without a description, or with a header without an example, is documented', async (t) => {
  const response: Record<number, TSchema> = { 200: Type.Object({}, { headers: { 'x-total': Type.Integer() } }) }
  const { paths } = format({ schema: { response } })
  const { description, headers } = paths[path]?.get?.responses['200'] ?? {}
  t.equal(description, '')
  t.same(headers?.['x-total'], { schema: { type: 'integer' }, example: 1 })
})
