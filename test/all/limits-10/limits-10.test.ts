import { createRequire, register } from 'node:module'
import t from 'tap'

// Runs the tests of limits with the lowest supported version of the package.
register('../../fixtures/hosts/rate-limit-10.js', import.meta.url)

t.test('version 10 of @fastify/rate-limit is loaded, the lowest supported one', async (t) => {
  const require = createRequire(import.meta.url)
  const { peerDependencies } = require('../../../package.json')
  t.equal(`^${require('rate-limit-10/package.json').version} || ^11`, peerDependencies['@fastify/rate-limit'])
  t.equal((await import('@fastify/rate-limit')).default, require('rate-limit-10'))
})

await import('../../http/limits/failed-keys.test.js')
await import('../../http/limits/limits.test.js')
