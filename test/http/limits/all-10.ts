import { createRequire, register } from 'node:module'
import t from 'tap'

// All tests of this folder once more, on the lowest version of the package that is allowed.
register('../../fixtures/hosts/rate-limit-10.js', import.meta.url)

t.test('the lowest version that is allowed is the one loaded here', async (t) => {
  const require = createRequire(import.meta.url)
  const { peerDependencies } = require('../../../package.json')
  t.equal(`^${require('rate-limit-10/package.json').version} || ^11`, peerDependencies['@fastify/rate-limit'])
  t.equal((await import('@fastify/rate-limit')).default, require('rate-limit-10'))
})

await import('./all.js')
