import type { FailingWebhook, Webhook, WebhookHealth } from '../../../core/ports/index.js'
import { benchCases, type StorageDriver, webhookCases } from '../support/driver.js'
import { given, isInstant, same } from '../support/expect.js'
import { delivered, disableAtOnce, disableAtTwo, failed, lenient, retry } from '../support/samples.js'

const test = webhookCases('deliveries')
const emptyTest = benchCases('deliveries')

const healthy: WebhookHealth = { failing_since: null, failed_deliveries: 0, paused_until: null, disabled_reason: null }
const everything = { limit: 100, maxPending: 100 }

async function healthOf ({ webhooks }: StorageDriver, { id }: Pick<Webhook, 'id'>): Promise<WebhookHealth> {
  return given(await webhooks.findHealth('acme', id), 'findHealth returns the health')
}

function summaries (listed: readonly FailingWebhook[]): unknown[] {
  return listed.map(({ tenantSlug, webhook, lastError, lastDetail, lastResponseStatus }) =>
    [tenantSlug, webhook.id, lastError, lastDetail, lastResponseStatus])
}

export const webhookHealthCases = [
  test('webhooks.findHealth',
    'a webhook is failing from its first failed attempt until its next success', async (t, webhook) => {
      same(await t.webhooks.findHealth('acme', webhook.id + 1000), null, 'the health of a webhook that does not exist')
      same(await healthOf(t, webhook), healthy, 'its health without an attempt')
      await t.attempt(retry, lenient)
      const { failing_since: failingSince, ...rest } = await healthOf(t, webhook)
      isInstant(failingSince, 'failing_since is an RFC 3339 date in UTC with milliseconds')
      same({ failing_since: null, ...rest }, healthy, 'the rest of its health after an attempt that is retried')
      same(failingSince >= webhook.created_at, true, 'failing_since is not before created_at')
      await t.wait(5)
      await t.attempt(failed, lenient)
      await t.attempt(failed, lenient)
      same(await healthOf(t, webhook), { ...healthy, failing_since: failingSince, failed_deliveries: 2 },
        'its health after two failed deliveries')
      await t.attempt(delivered, lenient)
      same(await healthOf(t, webhook), healthy, 'its health after a success')
    }),

  test('webhooks.findHealth', 'a pause is shown until it ends', async (t, webhook) => {
    await t.attempt((lease) => retry(lease, { pauseMs: 1500 }), lenient)
    const { failing_since: failingSince, paused_until: until } = await healthOf(t, webhook)
    isInstant(until, 'paused_until is an RFC 3339 date in UTC with milliseconds')
    same(Date.parse(until) - Date.parse(String(failingSince)), 1500,
      'the milliseconds from the failure to the end of the pause')
    await t.wait(1501)
    same((await healthOf(t, webhook)).paused_until, null, 'paused_until after that')
    const other = await t.addWebhook()
    await t.attempt((lease) => retry(lease, { pauseMs: 60_000 }), lenient)
    await t.webhooks.update('acme', other.id, { status: 'inactive' })
    same((await healthOf(t, other)).paused_until, null, 'paused_until of an inactive webhook')
  }),

  test('webhooks.findHealth',
    'a disabled webhook shows the reason, and keeps its failures until it is reactivated', async (t, webhook) => {
      await t.attempt(failed, disableAtTwo)
      const { failing_since: failingSince } = await healthOf(t, webhook)
      await t.attempt((lease) => retry(lease, { pauseMs: 50 }), lenient)
      await t.webhooks.update('acme', webhook.id, { name: 'New name' })
      await t.wait(51)
      await t.attempt(failed, disableAtTwo)
      const record = { ...healthy, failing_since: failingSince, failed_deliveries: 2 }
      same(await healthOf(t, webhook), { ...record, disabled_reason: 'failing' },
        'its health when it has failed for too long')
      await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
      same(await healthOf(t, webhook), record, 'its health when it is made inactive')
      await t.webhooks.update('acme', webhook.id, { status: 'active' })
      same(await healthOf(t, webhook), healthy, 'its health when it is made active')
      await t.attempt((lease) => failed(lease, { isGone: true }), lenient)
      const gone = await healthOf(t, webhook)
      same(gone, { ...healthy, failing_since: gone.failing_since, failed_deliveries: 1, disabled_reason: 'gone' },
        'its health when it is gone')
      isInstant(gone.failing_since, 'failing_since is a date')
      await t.webhooks.update('acme', webhook.id, { target_url: 'https://hooks.example/new' })
      same(await healthOf(t, webhook), { ...healthy, disabled_reason: 'gone' }, 'its health with a new address')
    }),

  test('recordAttempts',
    'late results do not change the health of a webhook that is not active', async (t, webhook) => {
      await t.attempt(failed, lenient)
      const [one, two, three] = await t.lease(3)
      await t.webhooks.update('acme', webhook.id, { status: 'inactive' })
      const before = await healthOf(t, webhook)
      const late = [delivered(one), failed(two), failed(three, { isGone: true })]
      same(await t.recordAttempts(late, disableAtOnce), [], 'the notices')
      same(await healthOf(t, webhook), before, 'its health')
      same([(await t.webhooks.find('acme', webhook.id))?.status, before.failed_deliveries], ['inactive', 1],
        'its status, and the failed deliveries')
    }),

  emptyTest('webhooks.listFailing',
    'failing and disabled webhooks of all tenants are listed, the longest failing first', async (t) => {
      same(await t.webhooks.listFailing(everything), [], 'the list without webhooks')
      const recent = await t.addWebhook({ event_types: ['job.created'] })
      const failing = await t.addWebhook({ tenantSlug: 'globex' })
      const disabled = await t.addWebhook({ event_types: ['job.closed'] })
      const cleared = await t.addWebhook({ event_types: ['job.updated'] })
      const inactive = await t.addWebhook({ event_types: ['job.deleted'] })
      await t.addWebhook({ event_types: ['job.archived'] })
      await t.emit({ tenantSlug: 'globex' })
      await t.complete((lease) => ({ ...failed(lease), error: 'connection', detail: 'refused' }))
      for (const type of ['job.closed', 'job.updated', 'job.deleted', 'job.archived']) {
        await t.wait(5)
        await t.emit({ type })
        await t.complete((lease) => failed(lease, { isGone: type === 'job.closed' || type === 'job.updated' }))
      }
      await t.wait(5)
      await t.emit({ type: 'job.created' })
      await t.complete(retry)
      await t.emit({ type: 'job.archived' })
      await t.complete(delivered)
      await t.webhooks.update('acme', inactive.id, { status: 'inactive' })
      await t.webhooks.update('acme', cleared.id, { target_url: 'https://hooks.example/new' })
      const listed = await t.webhooks.listFailing(everything)
      same(summaries(listed), [
        ['globex', failing.id, 'connection', 'refused', null],
        ['acme', disabled.id, 'http_status', null, 410],
        ['acme', recent.id, 'http_status', null, 503],
        ['acme', cleared.id, null, null, null]
      ], 'the listed webhooks')
      for (const { tenantSlug, webhook, health } of listed) {
        same(webhook, await t.webhooks.find(tenantSlug, webhook.id), `webhook ${webhook.id}`)
        same(health, await t.webhooks.findHealth(tenantSlug, webhook.id), `the health of webhook ${webhook.id}`)
      }
      same(summaries(await t.webhooks.listFailing({ limit: 2, maxPending: 1 })), summaries(listed).slice(0, 2),
        'the first two')
      await t.webhooks.delete('acme', disabled.id)
      const hidden = { event_types: ['job.hidden'] }
      const twins = [await t.addWebhook(hidden), await t.addWebhook(hidden)]
      await t.emit({ type: 'job.hidden' })
      await t.recordAttempts((await t.claimAll(2)).map((lease) => failed(lease)).toReversed())
      same((await t.webhooks.listFailing(everything)).map(({ webhook }) => webhook.id),
        [failing.id, recent.id, ...twins.map(({ id }) => id), cleared.id],
        'the listed webhooks, after one was deleted and two have failed at the same time')
    }),

  test('webhooks.listFailing', 'the pending deliveries of a failing webhook are counted up to a limit', async (t) => {
    await t.emitMany(5)
    const [one, two] = await t.claimAll(3)
    await t.recordAttempts([failed(one), retry(two)])
    const count = async (maxPending: number): Promise<number[]> =>
      (await t.webhooks.listFailing({ limit: 10, maxPending })).map((listed) => listed.pending)
    same([await count(10), await count(4), await count(3), await count(1)], [[4], [4], [3], [1]],
      'one leased, one waiting and two due deliveries, counted up to 10, 4, 3 and 1')
    const other = await t.addWebhook()
    await t.emitMany(1)
    await t.webhooks.update('acme', other.id, { status: 'inactive' })
    same(await count(10), [5], 'after one more, and without those of another webhook')
  })
]
