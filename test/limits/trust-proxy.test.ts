import t from 'tap'
import type { FastifyServerOptions } from 'fastify'
import type { RateLimitOptions } from '../../src/index.js'
import { trustsEveryProxy } from '../../src/http/client-address.js'
import { buildLimited } from '../fixtures/api/limits.js'
import { captureLogs } from '../fixtures/api/logs.js'

const warning = 'trustProxy trusts every address, so callers choose their own, which defeats rateLimit.failedKeys: name your proxies instead'

for (const [title, trustProxy, rateLimit, count] of [
  ['trustProxy: true with failedKeys is warned of at start', true, {}, 1],
  ['trustProxy: true without failedKeys is not warned of', true, { failedKeys: false }, 0],
  ['trustProxy: true without limits is not warned of', true, false, 0],
  ['a function that trusts every address is warned of', () => true, {}, 1],
  ['a function that trusts some addresses is not warned of', (address: string) => address === '10.0.0.1', {}, 0],
  ['a function that trusts the nearest proxies is not warned of', (_address: string, hop: number) => hop < 2, {}, 0],
  ['a function that throws is not warned of', () => { throw new Error('canary') }, {}, 0],
  ['proxies that are named are not warned of', ['10.0.0.0/8'], {}, 0],
  ['a host without trustProxy is not warned', false, {}, 0]
] as Array<[string, FastifyServerOptions['trustProxy'], boolean | RateLimitOptions, number]>) {
  t.test(title, async (t) => {
    const logs = captureLogs()
    const server: FastifyServerOptions = { trustProxy: trustProxy ?? false, logger: logs.logger }
    await buildLimited(t, rateLimit, { server })
    t.same(logs.lines.filter(({ msg }) => msg === warning).map(({ level }) => level), Array(count).fill(40))
  })
}

t.test('a server that keeps its options elsewhere is not warned of', async (t) => {
  t.equal(trustsEveryProxy({}), false)
})
