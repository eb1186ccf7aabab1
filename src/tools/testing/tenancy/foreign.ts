import { benchCases, casesWith, eventIds, type StorageDriver, webhookCases } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import { delivered, failed, firstRows } from '../support/samples.js'

const test = webhookCases('tenancy')
const emptyTest = benchCases('tenancy')
const filledTest = casesWith(fill, 'tenancy')

// Two webhooks of acme and one of globex, each with one delivery.
async function fill ({ addWebhook, emit, log }: StorageDriver) {
  const mine = await addWebhook()
  const other = await addWebhook()
  const theirs = await addWebhook({ tenantSlug: 'globex' })
  await emit()
  await emit({ tenantSlug: 'globex' })
  const [{ id: delivery }] = exactly(await log(mine), 1, 'deliveries of acme')
  const [{ id: foreignDelivery }] = exactly(await log(theirs, 'globex'), 1, 'deliveries of globex')
  return { mine: mine.id, other: other.id, theirs: theirs.id, delivery, foreignDelivery }
}

type Ids = Awaited<ReturnType<typeof fill>>

async function findsNone (
  { mine, other, theirs, delivery, foreignDelivery }: Ids,
  method: (tenantSlug: string, webhookId: number, id: number) => Promise<unknown>
): Promise<void> {
  const foreign: Array<[string, number, number]> = [
    ['acme', other, delivery],
    ['globex', mine, delivery],
    ['globex', theirs, delivery],
    ['acme', mine, foreignDelivery],
    ['acme', theirs, foreignDelivery],
    ['nobody', mine, delivery],
    ['acme', mine, delivery + 1000],
    ['acme', theirs + 1000, delivery]
  ]
  for (const [tenantSlug, webhookId, id] of foreign) {
    same(await method(tenantSlug, webhookId, id), null,
      `delivery ${id} of webhook ${webhookId}, requested by ${tenantSlug}`)
  }
}

/** Checks that a replay, or its count, uses only events and webhooks of its tenant. */
async function usesOwnEvents (
  t: StorageDriver, { mine, theirs }: Ids, method: 'replay' | 'countReplay'
): Promise<void> {
  await t.recordAttempts((await t.claim()).map((lease) => failed(lease)))
  for (const [tenantSlug, id] of [['globex', mine], ['acme', theirs], ['nobody', mine]] as const) {
    same(await t[method]({ id }, { include: 'all' }, tenantSlug), null, `webhook ${id}, requested by ${tenantSlug}`)
  }
  same(await t[method]({ id: mine }, { include: 'all', eventIds: ['evt_2'] }), { queued: 0, truncated: false },
    'an event of another tenant')
  same(await t[method]({ id: mine }, { include: 'all' }), { queued: 1, truncated: false }, 'all events')
}

// Slugs that a storage might confuse with acme, or with all tenants.
const strangers = ['globex', 'nobody', 'ACME', 'acme ', 'acm_', '%', '', '__proto__', "acme' or '1'='1"]

type ForeignCall = (webhooks: StorageDriver['webhooks'], stranger: string, id: number) => Promise<unknown>

/** Calls for a webhook of another tenant, each with the statement about it and its result. */
const foreignCalls: ReadonlyArray<[method: string, statement: string, result: unknown, call: ForeignCall]> = [
  ['findHealth', 'the health of another tenant\'s webhook is not shown', null,
    (webhooks, stranger, id) => webhooks.findHealth(stranger, id)],
  ['findGraceEnd', 'the grace period of another tenant\'s webhook is not shown', null,
    (webhooks, stranger, id) => webhooks.findGraceEnd(stranger, id)],
  ['update', 'a webhook of another tenant is not changed', null,
    (webhooks, stranger, id) => webhooks.update(stranger, id, { name: 'changed', status: 'inactive' })],
  ['delete', 'a webhook of another tenant is not deleted', false,
    (webhooks, stranger, id) => webhooks.delete(stranger, id)],
  ['findSecrets', 'the secret of another tenant\'s webhook is not shown', null,
    (webhooks, stranger, id) => webhooks.findSecrets(stranger, id)],
  ['findHeaders', 'the headers of another tenant\'s webhook are not shown', null,
    (webhooks, stranger, id) => webhooks.findHeaders(stranger, id)],
  ['rotateSecret', 'the secret of another tenant\'s webhook is not rotated', null,
    (webhooks, stranger, id) => webhooks.rotateSecret(stranger, id, { secret: 'changed', gracePeriodSeconds: 60 })],
  ['replaceSecret', 'the secret of another tenant\'s webhook is not replaced', false,
    (webhooks, stranger, id) => webhooks.replaceSecret(stranger, id, { from: 'second', to: 'changed' })]
]

export const foreignCases = [
  // About deliveries of other tenants.
  filledTest('deliveries.find', 'a delivery of another webhook or tenant is not found', async (t, ids) => {
    const { mine, theirs, delivery, foreignDelivery } = ids
    same((await t.deliveries.find('acme', mine, delivery))?.id, delivery, 'the delivery that acme finds')
    same((await t.deliveries.find('globex', theirs, foreignDelivery))?.id, foreignDelivery,
      'the delivery that globex finds')
    await findsNone(ids, t.deliveries.find.bind(t.deliveries))
  }),

  filledTest('deliveries.list', 'the log of another tenant\'s webhook is empty', async (t, { mine, theirs }) => {
    same(await t.deliveries.list('acme', theirs, firstRows), [], 'the log of the webhook of globex for acme')
    for (const tenantSlug of ['globex', 'nobody', '__proto__', 'ACME', '%']) {
      same(await t.deliveries.list(tenantSlug, mine, firstRows), [], `the log of the webhook of acme for ${tenantSlug}`)
      same(await t.deliveries.count(tenantSlug, mine, {}), 0, `the number of deliveries in it for ${tenantSlug}`)
    }
    same(await t.deliveries.count('acme', theirs, {}), 0, 'the number of deliveries that acme counts for globex')
  }),

  emptyTest('deliveries.claimDue', 'a claim contains the body, address and secret of its own tenant', async (t) => {
    const expected = (tenantSlug: string) => ({
      body: `{"of":"${tenantSlug}"}`,
      targetUrl: `https://${tenantSlug}.example/`,
      secrets: [`secret of ${tenantSlug}`]
    })
    const owners = new Map<number, string>()
    for (const tenantSlug of ['acme', 'globex']) {
      const { targetUrl, secrets: [secret = ''] } = expected(tenantSlug)
      owners.set((await t.addWebhook({ tenantSlug, secret, target_url: targetUrl })).id, tenantSlug)
    }
    for (const tenantSlug of ['acme', 'globex', 'acme', 'globex', 'acme', 'globex']) {
      await t.emit({ tenantSlug, body: expected(tenantSlug).body })
    }
    const claimed = await t.claim()
    same(claimed.length, 6, 'the number of claimed deliveries')
    for (const { tenantSlug, webhookId, body, targetUrl, secrets } of claimed) {
      same({ owner: owners.get(webhookId), body, targetUrl, secrets }, { owner: tenantSlug, ...expected(tenantSlug) },
        `a claim of ${tenantSlug}`)
    }
  }),

  filledTest('deliveries.replay',
    'a replay neither uses events of another tenant nor accepts its webhook', async (t, ids) => {
      await usesOwnEvents(t, ids, 'replay')
      same((await t.claim()).map(({ tenantSlug, eventId }) => [tenantSlug, eventId]), [['acme', 'evt_1']],
        'the claimed deliveries')
    }),

  filledTest('deliveries.countReplay',
    'countReplay neither counts events of another tenant nor accepts its webhook',
    (t, ids) => usesOwnEvents(t, ids, 'countReplay')),

  filledTest('deliveries.retry', 'a delivery of another webhook or tenant is not retried', async (t, ids) => {
    await t.recordAttempts((await t.claim()).map((lease) => failed(lease)))
    await findsNone(ids, t.deliveries.retry.bind(t.deliveries))
    same(await t.claim(), [], 'the deliveries that are due')
  }),

  filledTest('webhooks.update',
    'deactivating or deleting a webhook stops no deliveries of another tenant', async (t, { mine, other, theirs }) => {
      await t.webhooks.update('acme', mine, { status: 'inactive' })
      await t.webhooks.delete('acme', other)
      await t.webhooks.delete('acme', theirs)
      await t.webhooks.update('acme', theirs, { status: 'inactive' })
      const claimed = await t.claim()
      same(eventIds(claimed), ['evt_2'], 'the claimed deliveries')
      await t.recordAttempts(claimed.map(delivered))
      same(await t.deliveries.count('globex', theirs, { status: 'delivered' }), 1, 'the number delivered to globex')
    }),

  // About webhooks of other tenants.
  test('webhooks.find', 'a webhook of another tenant is neither found nor listed nor counted', async (t, { id }) => {
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    for (const stranger of strangers) {
      const own = stranger === 'globex' ? [theirs] : []
      const name = JSON.stringify(stranger)
      same(await t.webhooks.find(stranger, id), null, `the webhook of acme for ${name}`)
      same(await t.webhooks.list(stranger, firstRows), own, `the webhooks of ${name}`)
      same(await t.webhooks.count(stranger, {}), own.length, `the number of webhooks of ${name}`)
      same(await t.webhooks.count(stranger, { status: 'active' }), own.length, `the number of active ones of ${name}`)
    }
  }),

  ...foreignCalls.map(([method, statement, result, call]) =>
    emptyTest(`webhooks.${method}`, statement, async (t) => {
      const { id } = await t.addWebhook({ secret: 'first', headers: { names: ['X-Api-Key'], sealed: 'sealed' } })
      await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
      const webhook = await t.webhooks.find('acme', id)
      for (const stranger of strangers) {
        same(await call(t.webhooks, stranger, id), result, `the result for ${JSON.stringify(stranger)}`)
      }
      same([await t.webhooks.findSecrets('acme', id), await t.webhooks.find('acme', id)],
        [['second', 'first'], webhook], 'the secrets, and the webhook')
    }))
]
