import t from 'tap'
import { assertAccepted, assertRefused, assertRefusedByPlugin } from '../fixtures/refused-option.js'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { readProxy } from '../../src/options/proxy.js'

const path = 'delivery.proxy.url'
const aUrl = 'a URL such as http://proxy.example:3128'
const credentials = 'percent-encoded credentials without control characters, the user name without a colon'

t.test('delivery.proxy is an object with a url', async (t) => {
  for (const [proxy, shown] of [['http://proxy.example', '"text"'], [null, 'null'], [true, 'true'], [[], 'an array'], [() => {}, 'a function']] as const) {
    await assertRefused(t, [{ delivery: { proxy } }, 'delivery.proxy', 'an object such as { url }', shown])
  }
  await assertRefused(t, [{ delivery: { proxy: { uri: 'http://proxy.example' } } }, 'delivery.proxy.uri', 'a known name such as url', '"uri"'])
  await assertRefusedByPlugin(t, [{ delivery: { proxy: {} } }, path, aUrl, 'undefined'])
  await assertAccepted(t, { delivery: { proxy: undefined } })
})

t.test('delivery.proxy.url is an http or https URL without a path', async (t) => {
  const refused: Array<[url: unknown, shown: string]> = [
    [3128, '3128'], [null, 'null'], [new URL('http://proxy.example'), 'an object'],
    ['', '"text that is not a URL"'], ['proxy.example', '"text that is not a URL"'], ['http://', '"text that is not a URL"'], ['//proxy.example:3128', '"text that is not a URL"'],
    ['http://proxy.example:3128\n', '"text that is not a URL"'], ['http://proxy .example', '"text that is not a URL"'],
    ['proxy.example:3128', '"another protocol"'], ['socks5://proxy.example', '"another protocol"'], ['file:///proxy', '"another protocol"'],
    ['http://proxy.example:0', '"port 0"'],
    ['http://proxy.example/path', '"a URL with a path"'], ['http://proxy.example/?x=1', '"a URL with a path"'], ['http://proxy.example/#x', '"a URL with a path"']
  ]
  for (const [url, shown] of refused) await assertRefused(t, [{ delivery: { proxy: { url } } }, path, aUrl, shown])
  for (const user of ['a%3Ab', '%', '%ff', 'a%0D%0Ab', 'a:b%00']) {
    await assertRefused(t, [{ delivery: { proxy: { url: `http://${user}@proxy.example` } } }, path, credentials, '"others"'])
  }
  for (const url of ['http://proxy.example', 'https://proxy.example:8443/', 'http://10.0.0.1:3128', 'http://[::1]:3128', 'http://user:pass@proxy']) {
    await assertAccepted(t, { delivery: { proxy: { url } } })
    await assertAccepted(t, { delivery: { worker: false, proxy: { url } } })
  }
})

t.test('no message of a refused proxy shows what the URL contains', async (t) => {
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

t.test('the parts of a proxy are those of its URL', async (t) => {
  t.strictSame(readProxy({ url: 'https://us%65r:p%C3%A9@Proxy.example:443/' }, 'proxy'), {
    protocol: 'https:', host: 'proxy.example', hostname: 'proxy.example', port: '', authorization: `Basic ${Buffer.from('user:pé').toString('base64')}`
  })
  t.strictSame(readProxy({ url: 'http://[::1]:3128' }, 'proxy'), {
    protocol: 'http:', host: '[::1]:3128', hostname: '::1', port: '3128', authorization: null
  })
  t.equal(readProxy(undefined, 'proxy'), null)
})
