import t from 'tap'
import { readDelivery, readProxy } from '../../src/core/webhooks/options.js'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'

t.test('a lease lasts a minute, or twice the timeout of an attempt if that is longer', async (t) => {
  t.equal(readDelivery({}, 'delivery').leaseMs, 60_000)
  t.equal(readDelivery({ timeoutMs: 30_000 }, 'delivery').leaseMs, 60_000)
  t.equal(readDelivery({ timeoutMs: 30_001 }, 'delivery').leaseMs, 60_002)
})

t.test('a worker runs by default, and claims with its settings', async (t) => {
  const storage = memoryStorage()
  const { claimDue } = storage.deliveries
  const claimed = new Promise((resolve) => {
    storage.deliveries.claimDue = (options) => {
      resolve(options)
      return claimDue(options)
    }
  })
  const delivery = { worker: undefined, concurrency: 5, perEndpoint: 3, leaseMs: 70_000 }
  const engine = createRecruiting({ storage, delivery: delivery as object })
  t.match(await claimed, { limit: 5, perEndpoint: 3, leaseMs: 70_000, environment: null })
  await engine.close()
})

t.test('the error for an invalid proxy shows no part of its URL', async (t) => {
  const secrets = ['hunter2', 'vendor', 'internal']
  const values: unknown[] = ['ftp', 'http:', 'hunter2', 'vendor'].map((start) => `${start}://vendor:hunter2@internal/path`)
  values.push('vendor:hunter2@internal:80', 'http://vendor%3A:hunter2@internal', 'http://vendor:hunter2@internal:0', 'http://vendor:hunter2@inter nal')
  for (const value of values) {
    for (const proxy of [value, { url: value }, { uri: value }, { url: [value] }, [value]]) {
      const delivery: object = { proxy }
      try {
        createRecruiting({ storage: memoryStorage(), delivery })
        t.fail('accepted')
      } catch (error) {
        const { message, stack } = error as Error
        for (const secret of secrets) t.notOk(`${message}${stack}`.includes(secret), `${secret} in ${message}`)
      }
    }
  }
})

t.test('a proxy URL is split into its parts', async (t) => {
  t.strictSame(readProxy({ url: 'https://us%65r:p%C3%A9@Proxy.example:443/' }, 'proxy'), {
    protocol: 'https:', host: 'proxy.example', hostname: 'proxy.example', port: '', authorization: `Basic ${Buffer.from('user:pé').toString('base64')}`
  })
  t.strictSame(readProxy({ url: 'http://[::1]:3128' }, 'proxy'), {
    protocol: 'http:', host: '[::1]:3128', hostname: '::1', port: '3128', authorization: null
  })
  t.equal(readProxy(undefined, 'proxy'), null)
})
