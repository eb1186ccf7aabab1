import { Type } from '@sinclair/typebox'
import t from 'tap'
import { apiScopes } from '../../src/index.js'
import { buildApp } from '../fixtures/api/app.js'

t.test('apiScopes has the scopes of every route of the API, and no others', async (t) => {
  const used = new Set<string>()
  const app = await buildApp(t, {
    before (app) {
      app.addHook('onRoute', ({ config }) => {
        for (const scope of [...config?.scopes ?? [], ...config?.anyScope ?? []]) used.add(scope)
      })
    }
  })
  t.strictSame([...used].sort(), [...apiScopes].sort())
  t.strictSame(app.recruiting.scopes, apiScopes)
  t.throws(() => (apiScopes as string[]).push('more'), TypeError)
})

t.test('app.recruiting.scopes also has those of the own routes, each once', async (t) => {
  const response = { 200: Type.Object({}) }
  const app = await buildApp(t, {
    async routes (app) {
      app.get('/notes', { config: { scopes: ['notes:read', 'jobs:read'] }, schema: { response } }, async () => ({}))
      app.get('/hidden', { config: { scopes: ['notes:read', 'notes:secret'] }, schema: { hide: true, response } as object }, async () => ({}))
      app.get('/open', { config: { scopes: [] }, schema: { response } }, async () => ({}))
    }
  })
  t.strictSame(app.recruiting.scopes, [...apiScopes, 'notes:read', 'notes:secret'])
})
