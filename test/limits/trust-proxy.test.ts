import t from 'tap'
import type { FastifyServerOptions } from 'fastify'
import type { RateLimitOptions } from '../../src/index.js'
import { trustsEveryProxy } from '../../src/http/limits/trust-proxy.js'
import { buildLimited } from '../fixtures/api/limits.js'
import { captureLogs } from '../fixtures/api/logs.js'

const warning = 'trustProxy: true lets every caller choose its address, which defeats rateLimit.failedKeys: name your proxies instead'

for (const [title, trustProxy, rateLimit, count] of [
  ['trustProxy: true with failedKeys is warned of at start', true, {}, 1],
  ['trustProxy: true without failedKeys is not warned of', true, { failedKeys: false }, 0],
  ['trustProxy: true without limits is not warned of', true, false, 0],
  ['proxies that are named are not warned of', ['10.0.0.0/8'], {}, 0],
  ['a host without trustProxy is not warned', false, {}, 0]
] as const satisfies ReadonlyArray<[string, unknown, boolean | RateLimitOptions, number]>) {
  t.test(title, async (t) => {
    const logs = captureLogs()
    const server: FastifyServerOptions = { trustProxy: typeof trustProxy === 'boolean' ? trustProxy : [...trustProxy], logger: logs.logger }
    await buildLimited(t, rateLimit, { server })
    t.same(logs.lines.filter(({ msg }) => msg === warning).map(({ level }) => level), Array(count).fill(40))
  })
}

t.test('a server that keeps its options elsewhere is not warned of', async (t) => {
  t.equal(trustsEveryProxy({}), false)
})
