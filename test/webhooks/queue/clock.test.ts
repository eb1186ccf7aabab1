import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

for (const [aheadMs, isCorrected] of [[600_000, true], [-600_000, true], [30_000, false]] as const) {
  t.test(`a worker whose clock is ${aheadMs / 1000} s ahead of the storage's ${isCorrected ? 'warns once and signs with the storage\'s time' : 'signs with its own time'}`, async (t) => {
    const receiver = await startReceiver(t)
    const storage = memoryStorage()
    const { claimDue } = storage.deliveries
    storage.deliveries.claimDue = async (options) =>
      (await claimDue(options)).map((delivery) => ({ ...delivery, claimedAt: Date.now() - aheadMs }))
    storage.deliveries.recordAndClaim = async (results, rule, options) => ({
      later: await storage.deliveries.recordAttempts(results, rule), claimed: await storage.deliveries.claimDue(options)
    })
    const warnings: string[] = []
    const recruiting = createRecruiting({
      storage,
      logger: { ...silentLogger, warn: (_fields: unknown, message?: string) => { warnings.push(String(message)) } },
      delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32'] }
    })
    t.teardown(() => recruiting.close())
    await recruiting.webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: [event.type] })
    for (let count = 1; count <= 2; count++) {
      await recruiting.emit(event)
      await receiver.received(count)
    }
    const expected = Date.now() - (isCorrected ? aheadMs : 0)
    for (const { headers } of receiver.requests) {
      const errorMs = Math.abs(Number(headers['webhook-timestamp']) * 1000 - expected)
      t.ok(errorMs < 120_000, `${errorMs} ms`)
    }
    t.strictSame(warnings.filter((message) => message.startsWith('the clock differs')).length, isCorrected ? 1 : 0)
  })
}
