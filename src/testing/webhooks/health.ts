import type { FailingWebhook, Webhook, WebhookHealth } from '../../ports/index.js'
import { benchCase } from '../support/driver.js'
import type { StorageDriver } from '../support/driver.js'
import { given, isInstant, same } from '../support/expect.js'
import { delivered, disableAtOnce, disableAtTwo, failed, lenient, retry } from '../support/samples.js'

const healthy: WebhookHealth = { failing_since: null, failed_deliveries: 0, paused_until: null, disabled_reason: null }
const everything = { limit: 100, maxPending: 100 }

/** Returns the health of a webhook that exists. */
async function healthOf ({ webhooks }: StorageDriver, { id }: Pick<Webhook, 'id'>): Promise<WebhookHealth> {
  return given(await webhooks.findHealth('acme', id), 'findHealth returns the health')
}

function summaries (listed: readonly FailingWebhook[]): unknown[] {
  return listed.map(({ tenantSlug, webhook, lastError, lastResponseStatus }) => [
    tenantSlug,
    webhook.id,
    lastError,
    lastResponseStatus
  ])
}

/** Cases about the health of webhooks. */
export const webhookHealthCases = [
  benchCase('deliveries', {
    port: 'webhooks.findHealth',
    name: 'a webhook is failing from its first failed attempt until its next success'
  }, async (driver) => {
    const { webhooks, addWebhook, attempt, wait } = driver
    const webhook = await addWebhook()
    same(await webhooks.findHealth('acme', webhook.id + 1000), null, 'the health of a webhook that does not exist')
    same(await healthOf(driver, webhook), healthy, 'its health without an attempt')
    await attempt(retry, lenient)
    const { failing_since: failingSince, ...rest } = await healthOf(driver, webhook)
    isInstant(failingSince, 'failing_since is an RFC 3339 date in UTC with milliseconds')
    same({ failing_since: null, ...rest }, healthy, 'the rest of its health after an attempt that is retried')
    same(failingSince >= webhook.created_at, true, 'failing_since is not before created_at')
    await wait(5)
    await attempt(failed, lenient)
    await attempt(failed, lenient)
    same(
      await healthOf(driver, webhook),
      { ...healthy, failing_since: failingSince, failed_deliveries: 2 },
      'its health after two failed deliveries'
    )
    await attempt(delivered, lenient)
    same(await healthOf(driver, webhook), healthy, 'its health after a success')
  }),

  benchCase('deliveries', { port: 'webhooks.findHealth', name: 'a pause is shown until it ends' }, async (driver) => {
    const webhook = await driver.addWebhook()
    await driver.attempt((lease) => retry(lease, { pauseMs: 1500 }), lenient)
    const { failing_since: failingSince, paused_until: until } = await healthOf(driver, webhook)
    isInstant(until, 'paused_until is an RFC 3339 date in UTC with milliseconds')
    same(
      Date.parse(until) - Date.parse(String(failingSince)),
      1500,
      'the milliseconds from the failure to the end of the pause'
    )
    await driver.wait(1501)
    same((await healthOf(driver, webhook)).paused_until, null, 'paused_until after that')
    const other = await driver.addWebhook()
    await driver.attempt((lease) => retry(lease, { pauseMs: 60_000 }), lenient)
    await driver.webhooks.update('acme', other.id, { status: 'inactive' })
    same((await healthOf(driver, other)).paused_until, null, 'paused_until of an inactive webhook')
  }),

  benchCase('deliveries', {
    port: 'webhooks.findHealth',
    name: 'a disabled webhook shows why, and keeps its record of failures until it is made active'
  }, async (driver) => {
    const { webhooks, addWebhook, attempt } = driver
    const webhook = await addWebhook()
    await attempt(failed, disableAtTwo)
    const { failing_since: failingSince } = await healthOf(driver, webhook)
    await attempt((lease) => retry(lease, { pauseMs: 50 }), lenient)
    await webhooks.update('acme', webhook.id, { name: 'New name' })
    await driver.wait(51)
    await attempt(failed, disableAtTwo)
    const record = { ...healthy, failing_since: failingSince, failed_deliveries: 2 }
    same(
      await healthOf(driver, webhook),
      { ...record, disabled_reason: 'failing' },
      'its health when it has failed for too long'
    )
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    same(await healthOf(driver, webhook), record, 'its health when it is made inactive')
    await webhooks.update('acme', webhook.id, { status: 'active' })
    same(await healthOf(driver, webhook), healthy, 'its health when it is made active')
    await attempt((lease) => failed(lease, { isGone: true }), lenient)
    const gone = await healthOf(driver, webhook)
    same(
      gone,
      { ...healthy, failing_since: gone.failing_since, failed_deliveries: 1, disabled_reason: 'gone' },
      'its health when it is gone'
    )
    isInstant(gone.failing_since, 'failing_since is a date')
    await webhooks.update('acme', webhook.id, { target_url: 'https://hooks.example/new' })
    same(await healthOf(driver, webhook), { ...healthy, disabled_reason: 'gone' }, 'its health with a new address')
  }),

  benchCase('deliveries', {
    port: 'deliveries.recordAttempts',
    name: 'late results of a webhook that is not active change nothing about its health'
  }, async (driver) => {
    const { webhooks, addWebhook, attempt, emitMany, claimAll, recordAttempts } = driver
    const webhook = await addWebhook()
    await attempt(failed, lenient)
    await emitMany(3)
    const [one, two, three] = await claimAll(3)
    await webhooks.update('acme', webhook.id, { status: 'inactive' })
    const before = await healthOf(driver, webhook)
    await recordAttempts([delivered(one), failed(two), failed(three, { isGone: true })], disableAtOnce)
    same(await healthOf(driver, webhook), before, 'its health')
    same(
      [(await webhooks.find('acme', webhook.id))?.status, before.failed_deliveries],
      ['inactive', 1],
      'its status, and the failed deliveries'
    )
  }),

  benchCase('deliveries', {
    port: 'webhooks.listFailing',
    name: 'failing and disabled webhooks of all tenants are listed, the longest failing first'
  }, async (driver) => {
    const { webhooks, addWebhook, emit, claimOne, claimAll, recordAttempts, wait } = driver
    same(await webhooks.listFailing(everything), [], 'the list without webhooks')
    const recent = await addWebhook({ event_types: ['job.created'] })
    const failing = await addWebhook({ tenantSlug: 'globex' })
    const disabled = await addWebhook({ event_types: ['job.closed'] })
    const cleared = await addWebhook({ event_types: ['job.updated'] })
    const inactive = await addWebhook({ event_types: ['job.deleted'] })
    await addWebhook({ event_types: ['job.archived'] })
    await emit({ tenantSlug: 'globex' })
    await recordAttempts([failed(await claimOne())])
    for (const [type, result] of [
      ['job.closed', { isGone: true }],
      ['job.updated', { isGone: true }],
      ['job.deleted', {}],
      ['job.archived', {}]
    ] as const) {
      await wait(5)
      await emit({ type })
      await recordAttempts([failed(await claimOne(), result)])
    }
    await wait(5)
    await emit({ type: 'job.created' })
    await recordAttempts([retry(await claimOne())])
    await emit({ type: 'job.archived' })
    await recordAttempts([delivered(await claimOne())])
    await webhooks.update('acme', inactive.id, { status: 'inactive' })
    await webhooks.update('acme', cleared.id, { target_url: 'https://hooks.example/new' })
    const listed = await webhooks.listFailing(everything)
    same(
      summaries(listed),
      [
        ['globex', failing.id, 'timeout', null],
        ['acme', disabled.id, 'http_status', 410],
        ['acme', recent.id, 'http_status', 503],
        ['acme', cleared.id, null, null]
      ],
      'the listed webhooks'
    )
    for (const { tenantSlug, webhook, health } of listed) {
      same(webhook, await webhooks.find(tenantSlug, webhook.id), `webhook ${webhook.id}`)
      same(health, await webhooks.findHealth(tenantSlug, webhook.id), `the health of webhook ${webhook.id}`)
    }
    same(
      summaries(await webhooks.listFailing({ limit: 2, maxPending: 1 })),
      summaries(listed).slice(0, 2),
      'the first two'
    )
    await webhooks.delete('acme', disabled.id)
    const twins = [await addWebhook({ event_types: ['job.hidden'] }), await addWebhook({ event_types: ['job.hidden'] })]
    await emit({ type: 'job.hidden' })
    await recordAttempts((await claimAll(2)).map((lease) => failed(lease)).toReversed())
    same(
      (await webhooks.listFailing(everything)).map(({ webhook }) => webhook.id),
      [failing.id, recent.id, ...twins.map(({ id }) => id), cleared.id],
      'the listed webhooks, after one was deleted and two have failed at the same time'
    )
  }),

  benchCase('deliveries', {
    port: 'webhooks.listFailing', name: 'the pending deliveries of a failing webhook are counted up to a limit'
  }, async ({ webhooks, addWebhook, emitMany, claimAll, recordAttempts }) => {
    await addWebhook()
    await emitMany(5)
    const [one, two] = await claimAll(3)
    await recordAttempts([failed(one), retry(two)])
    const count = async (maxPending: number): Promise<number[]> =>
      (await webhooks.listFailing({ limit: 10, maxPending })).map((listed) => listed.pending)
    same([await count(10), await count(4), await count(3), await count(1)], [[4], [4], [3], [1]],
      'one leased, one waiting and two due deliveries, counted up to 10, 4, 3 and 1')
    const other = await addWebhook()
    await emitMany(1)
    await webhooks.update('acme', other.id, { status: 'inactive' })
    same(await count(10), [5], 'after one more, and without those of another webhook')
  })
]
