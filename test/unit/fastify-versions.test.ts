import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import t from 'tap'
import { fastifyVersions } from '../../src/http/fastify.js'

const { satisfies } = createRequire(import.meta.resolve('fastify'))('semver') as { satisfies: (version: string, range: string) => boolean }

t.test('Fastify 5 and 6 accept the plugin, with the pre-releases of 6', async (t) => {
  const accepted = ['5.8.5', '5.99.0', '6.0.0-alpha.4', '6.0.0-beta.1', '6.0.0-rc.1', '6.0.0', '6.7.2'].filter((version) => satisfies(version, fastifyVersions))
  t.equal(accepted.length, 7, String(accepted))
  for (const version of ['4.29.1', '7.0.0-alpha.1', '7.0.0']) t.notOk(satisfies(version, fastifyVersions), version)
})

t.test('npm installs the plugin beside the same major versions', async (t) => {
  const { peerDependencies } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  for (const version of ['5.8.5', '6.0.0-alpha.4', '6.0.0', '6.7.2']) t.ok(satisfies(version, peerDependencies.fastify), version)
  for (const version of ['4.29.1', '7.0.0']) t.notOk(satisfies(version, peerDependencies.fastify), version)
})
