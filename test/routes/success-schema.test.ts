import { Type } from '@sinclair/typebox'
import t from 'tap'
import { assertAcceptedByPlugin, assertRefusedByPlugin } from '../fixtures/refused-option.js'

interface Host { route (options: object): void }

function routesWith (response: object | undefined, method: string | string[] = 'GET') {
  const schema = response === undefined ? {} : { response }
  return { routes: async (app: Host) => app.route({ method, url: '/interviews', config: { scopes: [] }, schema, handler () {} }) }
}

const name = '/api/v1/public/:tenant_slug/interviews to have a schema for a status such as 200'

t.test('a route without a schema for its success fails the registration, by its method and path', async (t) => {
  const Interview = Type.Object({})
  for (const [response, shown] of [
    [undefined, 'undefined'], [{}, 'an object'], [{ 404: Interview }, 'an object'], [{ '2xx': Interview }, 'an object'], [{ 200: null }, 'an object'],
    [{ 200: { content: { 'application/json': { schema: Interview } } } }, 'an object']
  ] as Array<[object | undefined, string]>) {
    await assertRefusedByPlugin(t, [routesWith(response), 'routes', `schema.response of GET ${name}`, shown])
  }
  await assertRefusedByPlugin(t, [routesWith(undefined, ['PUT', 'PATCH']), 'routes', `schema.response of PUT, PATCH ${name}`, 'undefined'])
})

t.test('a route that declares any success, or a redirect, is accepted', async (t) => {
  for (const status of [200, 201, 204, 303]) await assertAcceptedByPlugin(t, routesWith({ [status]: Type.Null() }))
})
