import t from 'tap'
import { assertRefusedByPlugin } from '../fixtures/refused-option.js'

const path = '/api/v1/public/:tenant_slug/interviews'

for (const [scopes, shown] of [[undefined, 'undefined'], ['jobs:read', '"jobs:read"'], [[5], 'an array']] as const) {
  t.test(`a route whose scopes are ${shown} fails the registration`, async (t) => {
    await assertRefusedByPlugin(t, [{
      async routes (app: { get (url: string, options: object, handler: () => void): void }) {
        app.get('/interviews', { config: { scopes } }, () => {})
      }
    }, 'routes', `config.scopes of GET ${path} to be an array of scopes`, shown])
  })
}

t.test('a route without a config fails the registration, by all its methods', async (t) => {
  await assertRefusedByPlugin(t, [{
    async routes (app: { route (options: object): void }) {
      app.route({ method: ['PUT', 'PATCH'], url: '/interviews', handler () {} })
    }
  }, 'routes', `config.scopes of PUT, PATCH ${path} to be an array of scopes`, 'undefined'])
})
