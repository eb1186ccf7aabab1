import t from 'tap'
import { cacheKeyLookup } from '../../src/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'

t.test('a request whose key lookup hangs gets 500 when the time is over', async (t) => {
  const app = await buildApp(t, { keyLookup: cacheKeyLookup(() => new Promise(() => {}), { timeoutMs: 20 }) })
  checkError(t, await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) }), 500)
})
