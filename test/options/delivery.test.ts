import t from 'tap'
import { readDelivery } from '../../src/webhooks/options/delivery.js'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { readProxy } from '../../src/webhooks/options/proxy.js'
import { assertAccepted, assertRefused, assertRefusedByPlugin, type RefusedOption } from '../fixtures/refused-option.js'

/** Whole numbers, with the least and the greatest that is accepted. */
const integers: Array<[name: string, minimum: number, maximum: number]> = [
  ['concurrency', 1, 10_000],
  ['perEndpoint', 1, 1000],
  ['timeoutMs', 100, 120_000],
  ['pollMs', 10, 60_000],
  ['closeGraceMs', 0, 120_000],
  ['retentionDays', 1, 3650]
]

for (const [name, minimum, maximum] of integers) {
  t.test(`delivery.${name} is a whole number from ${minimum} to ${maximum}`, async (t) => {
    const values: Array<[value: unknown, shown: string]> = [
      [minimum - 1, String(minimum - 1)], [maximum + 1, String(maximum + 1)], [minimum + 0.5, String(minimum + 0.5)],
      [Number.NaN, 'NaN'], [Number.POSITIVE_INFINITY, 'Infinity'], [String(minimum), `"${minimum}"`], [null, 'null'], [true, 'true']
    ]
    for (const [value, shown] of values) {
      await assertRefused(t, [{ delivery: { [name]: value } }, `delivery.${name}`, `an integer from ${minimum} to ${maximum}`, shown])
    }
    await assertAccepted(t, { delivery: { [name]: minimum } })
    await assertAccepted(t, { delivery: { [name]: maximum } })
  })
}

t.test('delivery.leaseMs is a whole number, at least the deadline of an attempt and 5 s more', async (t) => {
  const of = (delivery: object, minimum: number, shown: string): RefusedOption =>
    [{ delivery }, 'delivery.leaseMs', `an integer from ${minimum} to 3600000`, shown]
  await assertRefused(t, of({ leaseMs: 19_999 }, 20_000, '19999'))
  await assertRefused(t, of({ leaseMs: 3_600_001 }, 20_000, '3600001'))
  await assertRefused(t, of({ leaseMs: '60000' }, 20_000, '"60000"'))
  await assertRefused(t, of({ leaseMs: 60_000, timeoutMs: 60_000 }, 65_000, '60000'))
  await assertAccepted(t, { delivery: { leaseMs: 20_000 } })
  await assertAccepted(t, { delivery: { leaseMs: 5100, timeoutMs: 100 } })
  await assertAccepted(t, { delivery: { timeoutMs: 120_000 } })
})

t.test('delivery.environment is text of 1 to 64 characters', async (t) => {
  for (const [environment, shown] of [['', '""'], ['x'.repeat(65), `"${'x'.repeat(65)}"`], ['a\n', '"a\\n"'], [5, '5']] as const) {
    await assertRefused(t, [{ delivery: { environment } }, 'delivery.environment', '1 to 64 characters without control characters', shown])
  }
  await assertAccepted(t, { delivery: { environment: 'x'.repeat(64) } })
})

t.test('delivery.retrySchedule is 1 to 100 numbers of seconds', async (t) => {
  const path = 'delivery.retrySchedule'
  for (const [value, shown] of [[[], '"0 entries"'], [Array(101).fill(0), '"101 entries"'], ['0,5', '"0,5"'], [null, 'null'], [{ 0: 5 }, 'an object']] as const) {
    await assertRefused(t, [{ delivery: { retrySchedule: value } }, path, '1 to 100 numbers', shown])
  }
  for (const [value, shown] of [[-1, '-1'], [31_536_001, '31536001'], ['5', '"5"'], [null, 'null'], [Number.NaN, 'NaN'], [Number.POSITIVE_INFINITY, 'Infinity']] as const) {
    await assertRefused(t, [{ delivery: { retrySchedule: [0, value] } }, `${path}[1]`, 'seconds from 0 to 31536000', shown])
  }
  await assertAccepted(t, { delivery: { retrySchedule: [0] } })
  await assertAccepted(t, { delivery: { retrySchedule: Array(100).fill(0.5) } })
  await assertAccepted(t, { delivery: { retrySchedule: [31_536_000] } })
})

for (const name of ['allowNetworks', 'denyNetworks']) {
  t.test(`delivery.${name} is a list of CIDRs`, async (t) => {
    const path = `delivery.${name}`
    await assertRefused(t, [{ delivery: { [name]: '10.0.0.0/8' } }, path, 'an array of CIDRs', '"10.0.0.0/8"'])
    await assertRefused(t, [{ delivery: { [name]: null } }, path, 'an array of CIDRs', 'null'])
    const malformed = [
      '10.0.0.0', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0/8', 'example.com/8', '::1', '::1/129', '[::1]/128', '', ' 10.0.0.0/8', '010.0.0.0/8', '10.0.0.0/8.0'
    ]
    for (const cidr of malformed) {
      await assertRefused(t, [{ delivery: { [name]: ['10.0.0.0/8', cidr] } }, `${path}[1]`, 'a CIDR such as 10.0.0.0/8', JSON.stringify(cidr)])
    }
    await assertRefused(t, [{ delivery: { [name]: [8] } }, `${path}[0]`, 'a CIDR such as 10.0.0.0/8', '8'])
    await assertAccepted(t, { delivery: { [name]: [] } })
    await assertAccepted(t, { delivery: { [name]: ['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8', '::1/128', '0.0.0.0/0', '::/0'] } })
  })
}

t.test('delivery.sourceIps is a list of 1 to 100 IP addresses and CIDRs', async (t) => {
  const path = 'delivery.sourceIps'
  const many = Array.from({ length: 101 }, (_, index) => `203.0.113.${index}`)
  for (const [value, shown] of [['203.0.113.7', '"203.0.113.7"'], [null, 'null'], [{}, 'an object'], [[], '"0 entries"']] as const) {
    await assertRefused(t, [{ delivery: { sourceIps: value } }, path, 'an array of 1 to 100 IP addresses or CIDRs', shown])
  }
  await assertRefused(t, [{ delivery: { sourceIps: many } }, path, 'an array of 1 to 100 IP addresses or CIDRs', '"101 entries"'])
  const expected = 'an IP address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24'
  for (const [value, shown] of [
    ['', '""'], ['hooks.example.com', '"hooks.example.com"'], ['203.0.113', '"203.0.113"'], ['203.0.113.0/33', '"203.0.113.0/33"'], ['[2001:db8::1]', '"[2001:db8::1]"'],
    ['fe80::1%eth0', '"fe80::1%eth0"'], ['203.0.113.7, 203.0.113.8', '"203.0.113.7, 203.0.113.8"'], ['<b>', '"<b>"'], [7, '7'], [undefined, 'undefined']
  ] as const) {
    await assertRefused(t, [{ delivery: { sourceIps: ['203.0.113.7', '2001:db8::/32', value] } }, `${path}[2]`, expected, shown])
  }
  await assertAccepted(t, { delivery: { sourceIps: many.slice(1) } })
  await assertAccepted(t, { delivery: { sourceIps: ['203.0.113.7', '198.51.100.0/24', '2001:db8::1', '2001:db8::/32'] } })
  await assertAccepted(t, { delivery: { sourceIps: undefined } })
})

t.test('delivery.localAddress is an IP address', async (t) => {
  for (const [value, shown] of [['', '""'], ['localhost', '"localhost"'], ['10.0.0.0/8', '"10.0.0.0/8"'], ['[::1]', '"[::1]"'], [1, '1'], [{}, 'an object']] as const) {
    await assertRefused(t, [{ delivery: { localAddress: value } }, 'delivery.localAddress', 'an IP address', shown])
  }
  for (const localAddress of ['127.0.0.1', '::1', undefined]) await assertAccepted(t, { delivery: { localAddress } })
})

t.test('delivery.disableAfter has two whole numbers', async (t) => {
  const path = 'delivery.disableAfter'
  const rule = { failingForSeconds: 60, failedDeliveries: 1 }
  for (const [value, shown] of [[null, 'null'], [5, '5'], [false, 'false'], ['never', '"never"']] as const) {
    await assertRefused(t, [{ delivery: { disableAfter: value } }, path, 'an object', shown])
  }
  for (const [value, shown] of [[-1, '-1'], [31_536_001, '31536001'], [0.5, '0.5'], [undefined, 'undefined'], ['60', '"60"']] as const) {
    await assertRefused(t, [{ delivery: { disableAfter: { ...rule, failingForSeconds: value } } }, `${path}.failingForSeconds`, 'an integer from 0 to 31536000', shown])
  }
  for (const [value, shown] of [[0, '0'], [1_000_001, '1000001'], [undefined, 'undefined'], [Number.NaN, 'NaN']] as const) {
    await assertRefused(t, [{ delivery: { disableAfter: { ...rule, failedDeliveries: value } } }, `${path}.failedDeliveries`, 'an integer from 1 to 1000000', shown])
  }
  await assertAccepted(t, { delivery: { disableAfter: { failingForSeconds: 0, failedDeliveries: 1 } } })
})

for (const name of ['worker', 'allowHttp']) {
  t.test(`delivery.${name} is true or false`, async (t) => {
    for (const [value, shown] of [['false', '"false"'], [0, '0'], [null, 'null'], [{}, 'an object']] as const) {
      await assertRefused(t, [{ delivery: { [name]: value } }, `delivery.${name}`, 'a boolean', shown])
    }
    await assertAccepted(t, { delivery: { [name]: true } })
    await assertAccepted(t, { delivery: { [name]: false } })
  })
}

t.test('delivery.clock has four methods', async (t) => {
  const clock = { now: () => 0, monotonic: () => 0, setTimeout: () => 0, clearTimeout: () => {} }
  for (const method of Object.keys(clock)) {
    await assertRefused(t, [{ delivery: { clock: { ...clock, [method]: undefined } } }, `delivery.clock.${method}`, 'a method', 'undefined'])
  }
  await assertRefused(t, [{ delivery: { clock: null } }, 'delivery.clock.now', 'a method', 'undefined'])
  await assertRefused(t, [{ delivery: { clock: Date } }, 'delivery.clock.monotonic', 'a method', 'undefined'])
  await assertAccepted(t, { delivery: { worker: false, clock } })
})

t.test('delivery is an object or false', async (t) => {
  for (const [value, shown] of [[true, 'true'], ['off', '"off"'], [null, 'null'], [0, '0'], [[], 'an array'], [() => {}, 'a function']] as const) {
    await assertRefused(t, [{ delivery: value }, 'delivery', 'an object or false', shown])
  }
  await assertAccepted(t, { delivery: false })
  await assertAccepted(t, { delivery: {} })
  await assertAccepted(t, {})
})

t.test('without options, deliveries are made as the documents say', async (t) => {
  const { clock, ...settings } = readDelivery({}, 'delivery')
  t.strictSame(settings, {
    worker: true,
    concurrency: 64,
    perEndpoint: 4,
    timeoutMs: 15_000,
    leaseMs: 60_000,
    retrySchedule: [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    pollMs: 1000,
    closeGraceMs: 10_000,
    allowHttp: false,
    allowNetworks: [],
    denyNetworks: [],
    proxy: null,
    localAddress: null,
    sourceIps: [],
    disableAfter: { failingForSeconds: 5 * 86_400, failedDeliveries: 10 },
    responseExcerptBytes: 0,
    propagateTrace: false,
    retentionDays: 30,
    environment: null
  })
  t.ok(Math.abs(clock.now() - Date.now()) < 1000)
})

t.test('a lease is at least twice the deadline of an attempt', async (t) => {
  t.equal(readDelivery({ timeoutMs: 30_000 }, 'delivery').leaseMs, 60_000)
  t.equal(readDelivery({ timeoutMs: 30_001 }, 'delivery').leaseMs, 60_002)
})

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
