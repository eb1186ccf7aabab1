import type { HoldStore } from '../../ports/index.js'
import { type StorageDriver, benchCase, eventIds, progress } from '../support/driver.js'
import type { CaseHead, StorageCase } from '../support/case.js'
import { rejects, same } from '../support/expect.js'
import { failed, lenient } from '../support/samples.js'

/** A storage without `holds` passes. Only a database can be copied, so the cases are about environments. */
function holdCase (head: CaseHead, body: (driver: StorageDriver, holds: HoldStore) => Promise<void>): StorageCase {
  return benchCase('deliveries', head, async (driver) => {
    const { holds } = driver.harness.storage
    if (holds !== undefined) await body(driver, holds)
  })
}

/** Cases about storages that hold notifications. */
export const holdCases = [
  holdCase({
    port: 'deliveries.claimDue', name: 'only workers of the first environment, and those without one, claim'
  }, async (driver) => {
    await driver.addWebhook()
    await driver.emitMany(2)
    await driver.claimAll(1, { environment: 'production' })
    await rejects(driver.claim({ environment: 'staging' }), 'claiming in another environment')
    same(eventIds(await driver.claim()), ['evt_2'], 'the events claimed without an environment')
    await driver.emit()
    await driver.claimAll(1, { environment: 'production' })
  }),

  holdCase({
    port: 'deliveries.claimNotices', name: 'notices are not given to another environment'
  }, async (driver) => {
    const { deliveries } = driver
    await driver.addWebhook()
    await driver.claim({ environment: 'production' })
    await driver.emit()
    await deliveries.recordAttempts([failed(await driver.claimOne())], { ...lenient, warnAfterSeconds: 0 })
    same(
      await deliveries.claimNotices({ limit: 10, leaseMs: 0, environment: 'staging' }),
      [],
      'the notices for staging'
    )
    same(
      (await deliveries.claimNotices({ limit: 10, leaseMs: 0, environment: 'production' })).length,
      1,
      'the number of notices for production'
    )
  }),

  holdCase({
    port: 'holds.find', name: 'another environment is held, from the time when it is first noticed'
  }, async (driver, holds) => {
    same(await holds.find('staging'), null, 'the hold before any claim')
    await driver.claim({ environment: 'production' })
    same(
      [await holds.find('production'), await holds.find(null)],
      [null, null],
      'the holds of production and of no environment'
    )
    const hold = await holds.find('staging')
    same(hold?.reason, 'environment', 'the reason of the hold')
    await driver.wait(20)
    same(await holds.find('staging'), hold, 'the hold, read again')
  }),

  holdCase({
    port: 'holds.adopt', name: 'an adopted storage belongs to the other environment'
  }, async (driver, holds) => {
    await driver.addWebhook()
    await driver.emit()
    await driver.claim({ environment: 'production', limit: 1, leaseMs: 10 })
    same(
      await holds.adopt({ environment: 'staging', pending: 'deliver' }),
      { reason: 'environment', pending: 1 },
      'the adoption'
    )
    same((await holds.find('production'))?.reason, 'environment', 'the hold of production')
    await driver.wait(20)
    same(eventIds(await driver.claim({ environment: 'staging' })), ['evt_1'], 'the events claimed by staging')
  }),

  holdCase({
    port: 'holds.adopt', name: 'adopting with discard skips every pending delivery'
  }, async (driver, holds) => {
    const { deliveries } = driver
    const webhook = await driver.addWebhook()
    await driver.claim({ environment: 'production' })
    await driver.emitMany(2)
    await deliveries.recordAttempts([failed(await driver.claimOne())], { ...lenient, warnAfterSeconds: 0 })
    const kept = { environment: 'staging', pending: 'discard', keepWebhooks: true, keepKeys: true } as const
    same(await holds.adopt(kept), { reason: 'environment', pending: 1 }, 'the adoption')
    same(await driver.claim({ environment: 'staging' }), [], 'the deliveries claimed')
    same(progress(await driver.log(webhook)), [['failed', 1], ['skipped', 0]], 'the log')
    same(await deliveries.claimNotices({ limit: 10, leaseMs: 0 }), [], 'the notices')
    await driver.emit()
    same(eventIds(await driver.claim({ environment: 'staging' })), ['evt_3'], 'the events claimed later')
  }),

  holdCase({
    port: 'holds.adopt', name: 'adopting with discard deactivates the webhooks of all tenants'
  }, async (driver, holds) => {
    const webhook = await driver.addWebhook()
    await driver.claim({ environment: 'production' })
    await holds.adopt({ environment: 'staging', pending: 'discard' })
    await driver.emit()
    same(progress(await driver.log(webhook)), [['skipped', 0]], 'the log')
  }),

  holdCase({ port: 'holds.adopt', name: 'adopting changes nothing if nothing is held' }, async (driver, holds) => {
    const webhook = await driver.addWebhook()
    await driver.claim({ environment: 'production' })
    await driver.emit()
    for (const environment of ['production', null]) {
      same(await holds.adopt({ environment, pending: 'discard' }), null, 'the adoption')
    }
    same(progress(await driver.log(webhook)), [['pending', 0]], 'the log')
    same((await holds.find('staging'))?.reason, 'environment', 'the hold of staging')
  })
]
