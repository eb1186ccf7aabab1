import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { assertAccepted, assertAcceptedByPlugin, assertRefused, assertRefusedByPlugin } from '../fixtures/refused-option.js'

const top = 'one of storage, keyLookup, prefix, events, candidateFields, jobFields, errorDetails, requestId, ' +
  'maxWebhooksPerTenant, maxEventBytes, secretKeys, openapi, rateLimit, routes, onAudit, opentelemetry, delivery, logger, logLevel, logSerializers'
const ofDelivery = 'one of worker, concurrency, perEndpoint, timeoutMs, leaseMs, retrySchedule, pollMs, closeGraceMs, ' +
  'allowHttp, allowNetworks, denyNetworks, disableAfter, retentionDays, clock'

t.test('a misspelt option is refused, and its value is not shown', async (t) => {
  await assertRefused(t, [{ secretKey: 'a secret' }, 'secretKey', top, '"secretKey"'])
  await assertRefused(t, [{ maxWebhookPerTenant: undefined }, 'maxWebhookPerTenant', top, '"maxWebhookPerTenant"'])
  await assertRefusedByPlugin(t, [{ errorDetail: true }, 'errorDetail', top, '"errorDetail"'])
  await assertRefusedByPlugin(t, [{ toString: true }, 'toString', top, '"toString"'])
})

t.test('a misspelt option of delivery is refused', async (t) => {
  await assertRefused(t, [{ delivery: { poolMs: 5 } }, 'delivery.poolMs', ofDelivery, '"poolMs"'])
  await assertRefused(t, [{ delivery: { timeout: 15 } }, 'delivery.timeout', ofDelivery, '"timeout"'])
  const rule = { failingForSeconds: 60, failedDeliveries: 1, failingForDays: 1 }
  const path = 'delivery.disableAfter.failingForDays'
  await assertRefused(t, [{ delivery: { disableAfter: rule } }, path, 'one of failingForSeconds, failedDeliveries', '"failingForDays"'])
})

t.test('the plugin and createRecruiting take one object of options, and Fastify its own', async (t) => {
  await assertAccepted(t, { keyLookup: async () => null, prefix: '/api', errorDetails: true })
  await assertAcceptedByPlugin(t, { logLevel: 'warn', logSerializers: {} })
})

t.test('an option of undefined means the default', async (t) => {
  const names = ofDelivery.replace('one of ', '').split(', ')
  await assertAccepted(t, { delivery: Object.fromEntries(names.map((name) => [name, undefined])) })
  await assertAccepted(t, { delivery: undefined, events: undefined, secretKeys: undefined, maxWebhooksPerTenant: undefined })
  await assertAcceptedByPlugin(t, { prefix: undefined, openapi: undefined, errorDetails: undefined, requestId: undefined })
})

t.test('a worker of undefined delivers, as by default', async (t) => {
  const storage = memoryStorage()
  let claims = 0
  const { claimDue } = storage.deliveries
  const claimed = new Promise<void>((resolve) => {
    storage.deliveries.claimDue = (options) => {
      claims++
      t.strictSame(options, { limit: 64, perEndpoint: 4, leaseMs: 60_000, ended: [] })
      resolve()
      return claimDue(options)
    }
  })
  const engine = createRecruiting({ storage, delivery: { worker: undefined, leaseMs: undefined, concurrency: undefined } as object })
  await claimed
  await engine.close()
  t.ok(claims > 0)
})

t.test('a logger has three methods', async (t) => {
  const logger = { info () {}, warn () {}, error () {} }
  await assertAccepted(t, { logger })
  for (const level of Object.keys(logger)) {
    await assertRefused(t, [{ logger: { ...logger, [level]: undefined } }, `logger.${level}`, 'a method', 'undefined'])
  }
  await assertRefused(t, [{ logger: null }, 'logger.info', 'a method', 'undefined'])
})
