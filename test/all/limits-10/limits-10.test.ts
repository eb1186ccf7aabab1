import { createRequire, register } from 'node:module'
import t from 'tap'

// The tests of limits on the lowest version of the package that is supported.
register('../../fixtures/hosts/rate-limit-10.js', import.meta.url)

t.test('version 10 of @fastify/rate-limit is loaded, the lowest that is supported', async (t) => {
  const require = createRequire(import.meta.url)
  const { peerDependencies } = require('../../../package.json')
  t.equal(`^${require('rate-limit-10/package.json').version} || ^11`, peerDependencies['@fastify/rate-limit'])
  t.equal((await import('@fastify/rate-limit')).default, require('rate-limit-10'))
})

await import('../../http/limits/failed-keys.test.js')
await import('../../http/limits/limits.test.js')
