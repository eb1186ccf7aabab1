import { eventIds, optionalCases, progress } from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { failed, lenient } from '../support/samples.js'

// Only a database can be copied, so the cases are about environments.
const holdCase = optionalCases('deliveries', 'holds', (driver) => {
  const { holds } = driver.harness.storage
  return holds === undefined ? null : { ...driver, holds }
})

/** Cases about storages that hold notifications. */
export const holdCases = [
  holdCase('deliveries.claimDue', 'only workers of the first environment, and those without one, claim', async (t) => {
    await t.addWebhook()
    await t.emitMany(2)
    await t.claimAll(1, { environment: 'production' })
    await rejects(t.claim({ environment: 'staging' }), 'claiming in another environment')
    same(eventIds(await t.claim()), ['evt_2'], 'the events claimed without an environment')
    await t.emit()
    await t.claimAll(1, { environment: 'production' })
  }),

  holdCase('deliveries.claimNotices', 'notices are not given to another environment', async (t) => {
    await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.emit()
    await t.deliveries.recordAttempts([failed(await t.claimOne())], { ...lenient, warnAfterSeconds: 0 })
    same(await t.deliveries.claimNotices({ limit: 10, leaseMs: 0, environment: 'staging' }), [],
      'the notices for staging')
    same((await t.deliveries.claimNotices({ limit: 10, leaseMs: 0, environment: 'production' })).length, 1,
      'the number of notices for production')
  }),

  holdCase('find', 'another environment is held, from the time when it is first noticed', async (t) => {
    same(await t.holds.find('staging'), null, 'the hold before any claim')
    await t.claim({ environment: 'production' })
    same([await t.holds.find('production'), await t.holds.find(null)], [null, null],
      'the holds of production and of no environment')
    const hold = await t.holds.find('staging')
    same(hold?.reason, 'environment', 'the reason of the hold')
    await t.wait(20)
    same(await t.holds.find('staging'), hold, 'the hold, read again')
  }),

  holdCase('adopt', 'an adopted storage belongs to the other environment', async (t) => {
    await t.addWebhook()
    await t.emit()
    await t.claim({ environment: 'production', limit: 1, leaseMs: 10 })
    same(await t.holds.adopt({ environment: 'staging', pending: 'deliver' }), { reason: 'environment', pending: 1 },
      'the adoption')
    same((await t.holds.find('production'))?.reason, 'environment', 'the hold of production')
    await t.wait(20)
    same(eventIds(await t.claim({ environment: 'staging' })), ['evt_1'], 'the events claimed by staging')
  }),

  holdCase('adopt', 'adopting with discard skips every pending delivery', async (t) => {
    const webhook = await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.emitMany(2)
    await t.deliveries.recordAttempts([failed(await t.claimOne())], { ...lenient, warnAfterSeconds: 0 })
    const kept = { environment: 'staging', pending: 'discard', keepWebhooks: true, keepKeys: true } as const
    same(await t.holds.adopt(kept), { reason: 'environment', pending: 1 }, 'the adoption')
    same(await t.claim({ environment: 'staging' }), [], 'the deliveries claimed')
    same(progress(await t.log(webhook)), [['failed', 1], ['skipped', 0]], 'the log')
    same(await t.deliveries.claimNotices({ limit: 10, leaseMs: 0 }), [], 'the notices')
    await t.emit()
    same(eventIds(await t.claim({ environment: 'staging' })), ['evt_3'], 'the events claimed later')
  }),

  holdCase('adopt', 'adopting with discard deactivates the webhooks of all tenants', async (t) => {
    const webhook = await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.holds.adopt({ environment: 'staging', pending: 'discard' })
    await t.emit()
    same(progress(await t.log(webhook)), [['skipped', 0]], 'the log')
  }),

  holdCase('adopt', 'adopting changes nothing if nothing is held', async (t) => {
    const webhook = await t.addWebhook()
    await t.claim({ environment: 'production' })
    await t.emit()
    for (const environment of ['production', null]) {
      same(await t.holds.adopt({ environment, pending: 'discard' }), null, 'the adoption')
    }
    same(progress(await t.log(webhook)), [['pending', 0]], 'the log')
    same((await t.holds.find('staging'))?.reason, 'environment', 'the hold of staging')
  })
]
