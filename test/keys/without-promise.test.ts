import t from 'tap'
import { type KeyLookup, cacheKeyLookup } from '../../src/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'

const lookup: KeyLookup = ({ tenantSlug, key }) => {
  return tenantSlug === 'acme' && key === keys.full ? { id: 'key-1', scopes: ['jobs:read'] } : null
}

for (const [title, keyLookup] of [['a key lookup', lookup], ['one behind a cache', cacheKeyLookup(lookup)]] as const) {
  t.test(`${title} may answer without a promise`, async (t) => {
    const app = await buildApp(t, { keyLookup })
    const ask = (key: string) => app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(key) })
    t.equal((await ask(keys.full)).statusCode, 200)
    checkError(t, await ask('unknown'), 401)
  })
}

t.test('a key lookup that throws at once gets 500', async (t) => {
  const app = await buildApp(t, { keyLookup () { throw new Error('gone') } })
  checkError(t, await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) }), 500)
})
