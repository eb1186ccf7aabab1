import { readdir } from 'node:fs/promises'
import { createRequire, register } from 'node:module'
import t from 'tap'

register('../fixtures/rate-limit-10.js', import.meta.url)

t.test('the lowest version that is allowed is the one loaded here', async (t) => {
  const require = createRequire(import.meta.url)
  const { peerDependencies } = require('../../package.json')
  t.equal(`^${require('rate-limit-10/package.json').version} || ^11`, peerDependencies['@fastify/rate-limit'])
  t.equal((await import('@fastify/rate-limit')).default, require('rate-limit-10'))
})

const tests = (await readdir(new URL('.', import.meta.url))).filter((name) => !import.meta.url.endsWith(name))
for (const name of tests.sort()) await import(`./${name}`)
