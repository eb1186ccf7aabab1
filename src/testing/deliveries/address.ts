import { benchCases, eventIds, progress } from '../support/driver.js'
import { same } from '../support/expect.js'
import { delivered, disableAtTwo, failed, retry } from '../support/samples.js'

const test = benchCases('deliveries')

const moved = { target_url: 'https://hooks.example/moved' }

/** Cases about attempts sent to an old address. */
export const addressCases = [
  test('recordAttempts', 'a late 410 from an old address disables nothing', async (t) => {
    const webhook = await t.addWebhook()
    await t.emitMany(2)
    const lease = await t.claimOne()
    await t.webhooks.update('acme', webhook.id, moved)
    same(await t.recordAttempts([failed(lease, { isGone: true })], disableAtTwo), [], 'the notices')
    same((await t.webhooks.find('acme', webhook.id))?.status, 'active', 'its status')
    same(progress(await t.log(webhook)), [['failed', 1], ['pending', 0]], 'its log')
    const next = await t.claimOne()
    same([next.targetUrl, next.isFailing], [moved.target_url, false], 'targetUrl and isFailing of the next claim')
  }),

  test('recordAttempts', 'late failures and pauses of an old address do not count for the new one', async (t) => {
    const { id } = await t.addWebhook()
    await t.emitMany(4)
    const [first, second, third] = await t.claimAll(3)
    await t.webhooks.update('acme', id, moved)
    same(
      await t.recordAttempts([failed(first), failed(second), retry(third, { pauseMs: 600_000 })], disableAtTwo),
      [],
      'the notices of three late failures'
    )
    same(
      (await t.claim()).map(({ eventId, isFailing }) => [eventId, isFailing]),
      [['evt_4', false]],
      'the deliveries claimed afterwards'
    )
  }),

  test('recordAttempts', 'a late success of an old address does not clear the record of the new one', async (t) => {
    const { id } = await t.addWebhook()
    await t.emitMany(3)
    const late = await t.claimOne()
    await t.webhooks.update('acme', id, moved)
    await t.recordAttempts([failed(await t.claimOne())], disableAtTwo)
    await t.recordAttempts([delivered(late)], disableAtTwo)
    same((await t.claimOne()).isFailing, true, 'isFailing of the new address')
  }),

  test('webhooks.update', 'a new address ends the pause and clears the record of failures', async (t) => {
    const { id } = await t.addWebhook()
    await t.emitMany(4)
    const [first, second] = await t.claimAll(2)
    await t.recordAttempts([failed(first), retry(second, { pauseMs: 600_000 })], disableAtTwo)
    await t.webhooks.update('acme', id, { target_url: `https://hooks.example/${id}` })
    same(await t.claim(), [], 'the claimed deliveries after an update with the same address')
    await t.webhooks.update('acme', id, moved)
    const claimed = await t.claim()
    same(
      [eventIds(claimed), claimed.map(({ isFailing }) => isFailing)],
      [
        ['evt_3', 'evt_4'],
        [false, false]
      ],
      'the deliveries claimed afterwards'
    )
    same(
      await t.recordAttempts(
        [...claimed.slice(0, 1)].map((lease) => failed(lease)),
        disableAtTwo
      ),
      [],
      'the notices of its first failure'
    )
  })
]
