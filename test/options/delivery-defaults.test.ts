import t from 'tap'
import { readDelivery } from '../../src/options/delivery.js'

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
