import { benchCases, eventIds, statuses, type StorageDriver } from '../support/driver.js'
import { exactly, same } from '../support/expect.js'
import { delivered, failed, firstRows } from '../support/samples.js'

const test = benchCases('tenancy')

const everything = { include: 'all' as const, eventTypes: null, eventIds: null, since: null, until: null, limit: 100 }
interface Ids { mine: number, other: number, theirs: number, delivery: number, foreignDelivery: number }

// Two webhooks of acme and one of globex, each with one delivery.
async function fill ({ addWebhook, emit, log }: StorageDriver): Promise<Ids> {
  const mine = await addWebhook()
  const other = await addWebhook()
  const theirs = await addWebhook({ tenantSlug: 'globex' })
  await emit()
  await emit({ tenantSlug: 'globex' })
  const [{ id: delivery }] = exactly(await log(mine), 1, 'deliveries of acme')
  const [{ id: foreignDelivery }] = exactly(await log(theirs, 'globex'), 1, 'deliveries of globex')
  return { mine: mine.id, other: other.id, theirs: theirs.id, delivery, foreignDelivery }
}

/** Cases about deliveries of other tenants. */
export const deliveryTenancyCases = [
  test('deliveries.find', 'a delivery of another webhook or tenant is not found', async (t) => {
    const { mine, other, theirs, delivery, foreignDelivery } = await fill(t)
    same((await t.deliveries.find('acme', mine, delivery))?.id, delivery, 'the delivery that acme finds')
    same((await t.deliveries.find('globex', theirs, foreignDelivery))?.id, foreignDelivery,
      'the delivery that globex finds')
    const strangers: Array<[string, number, number]> = [
      ['acme', other, delivery],
      ['globex', mine, delivery],
      ['globex', theirs, delivery],
      ['acme', mine, foreignDelivery],
      ['acme', theirs, foreignDelivery],
      ['nobody', mine, delivery],
      ['acme', mine, delivery + 1000],
      ['acme', theirs + 1000, delivery]
    ]
    for (const [tenantSlug, webhookId, id] of strangers) {
      same(await t.deliveries.find(tenantSlug, webhookId, id), null,
        `delivery ${id} of webhook ${webhookId}, requested by ${tenantSlug}`)
    }
  }),

  test('deliveries.list', 'the log of another tenant\'s webhook is empty', async (t) => {
    const { mine, theirs } = await fill(t)
    const strangers: Array<[string, number]> = [
      ['globex', mine],
      ['acme', theirs],
      ['nobody', mine],
      ['__proto__', mine],
      ['ACME', mine],
      ['%', mine]
    ]
    for (const [tenantSlug, webhookId] of strangers) {
      same(await t.deliveries.list(tenantSlug, webhookId, firstRows), [],
        `the log of webhook ${webhookId}, requested by ${tenantSlug}`)
      same(await t.deliveries.count(tenantSlug, webhookId, {}), 0,
        `the number of deliveries that ${tenantSlug} counts in it`)
    }
  }),

  test('deliveries.record', 'an event goes only to webhooks of its tenant', async (t) => {
    const { mine, theirs } = await fill(t)
    same((await t.emit({ tenantSlug: 'nobody' })).deliveries, 0,
      'the deliveries of an event of a tenant without webhooks')
    const claimed = (await t.claim()).map(({ tenantSlug, webhookId, eventId }) => [tenantSlug, webhookId, eventId])
    same(
      claimed.filter(([, id]) => id === mine || id === theirs).sort(),
      [
        ['acme', mine, 'evt_1'],
        ['globex', theirs, 'evt_2']
      ].sort(),
      'the claimed deliveries'
    )
  }),

  test('deliveries.claimDue', 'a claim has the body, address and secret of its own tenant', async (t) => {
    const webhooks = new Map<number, string>()
    for (const tenantSlug of ['acme', 'globex']) {
      const { id } = await t.addWebhook({
        tenantSlug,
        secret: `secret of ${tenantSlug}`,
        target_url: `https://${tenantSlug}.example/`
      })
      webhooks.set(id, tenantSlug)
    }
    for (let i = 0; i < 3; i++) {
      for (const tenantSlug of ['acme', 'globex']) await t.emit({ tenantSlug, body: `{"of":"${tenantSlug}"}` })
    }
    const claimed = await t.claim()
    same(claimed.length, 6, 'the number of claimed deliveries')
    for (const { tenantSlug, webhookId, body, targetUrl, secrets } of claimed) {
      same(
        { body, targetUrl, secrets, owner: webhooks.get(webhookId) },
        {
          body: `{"of":"${tenantSlug}"}`,
          targetUrl: `https://${tenantSlug}.example/`,
          secrets: [`secret of ${tenantSlug}`],
          owner: tenantSlug
        },
        `a claim of ${tenantSlug}`
      )
    }
  }),

  test('deliveries.replay', 'a replay neither uses events of another tenant nor goes to its webhook', async (t) => {
    const { mine, theirs } = await fill(t)
    await t.recordAttempts((await t.claim()).map((lease) => failed(lease)))
    same(
      [
        await t.deliveries.replay('globex', mine, everything),
        await t.deliveries.replay('acme', theirs, everything)
      ],
      [null, null],
      'replays to a webhook of another tenant'
    )
    same(
      await t.deliveries.replay('acme', mine, { ...everything, eventIds: ['evt_2'] }),
      { queued: 0, truncated: false },
      'a replay of an event of another tenant'
    )
    same(await t.deliveries.replay('acme', mine, everything), { queued: 1, truncated: false }, 'a replay of all events')
    same((await t.claim()).map(({ tenantSlug, eventId }) => [tenantSlug, eventId]), [['acme', 'evt_1']],
      'the claimed deliveries')
  }),

  test('deliveries.countReplay',
    'the count of a replay includes no events of another tenant, and is not for its webhook', async (t) => {
      const { mine, theirs } = await fill(t)
      await t.recordAttempts((await t.claim()).map((lease) => failed(lease)))
      const strangers: Array<[string, number]> = [['globex', mine], ['acme', theirs], ['nobody', mine]]
      for (const [tenantSlug, webhookId] of strangers) {
        same(await t.deliveries.countReplay(tenantSlug, webhookId, everything), null,
          `the count of webhook ${webhookId}, requested by ${tenantSlug}`)
      }
      same(
        await t.deliveries.countReplay('acme', mine, { ...everything, eventIds: ['evt_2'] }),
        { queued: 0, truncated: false },
        'the count of an event of another tenant'
      )
      same(await t.deliveries.countReplay('acme', mine, everything), { queued: 1, truncated: false },
        'the count of all events')
    }),

  test('deliveries.retry', 'a delivery of another webhook or tenant is not retried', async (t) => {
    const { mine, other, theirs, delivery, foreignDelivery } = await fill(t)
    await t.recordAttempts((await t.claim()).map((lease) => failed(lease)))
    const strangers: Array<[string, number, number]> = [
      ['acme', other, delivery],
      ['globex', mine, delivery],
      ['globex', theirs, delivery],
      ['acme', mine, foreignDelivery],
      ['acme', theirs, foreignDelivery],
      ['nobody', mine, delivery]
    ]
    for (const [tenantSlug, webhookId, id] of strangers) {
      same(await t.deliveries.retry(tenantSlug, webhookId, id), null,
        `delivery ${id} of webhook ${webhookId}, retried by ${tenantSlug}`)
    }
    same(await t.claim(), [], 'the deliveries that are due')
  }),

  test('deliveries.erase', 'erasing a subject keeps the same subject of another tenant', async (t) => {
    const mine = await t.addWebhook()
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    const about = { subject: 'candidate:1', body: '{"name":"Ada"}', tombstone: '{}' }
    await t.emit(about)
    await t.emit({ ...about, tenantSlug: 'globex' })
    const ofNobody = await t.deliveries.erase('nobody', 'candidate:1')
    same([ofNobody.events, (await t.deliveries.erase('acme', 'candidate:1')).events], [0, 1],
      'the results of erase for nobody and for acme')
    same([statuses(await t.log(mine)), statuses(await t.log(theirs, 'globex'))], [['cancelled'], ['pending']],
      'the logs of acme and globex')
    same((await t.claim()).map(({ tenantSlug, body }) => [tenantSlug, body]), [['globex', '{"name":"Ada"}']],
      'the claimed deliveries')
  }),

  test('webhooks.update', 'deactivating or deleting a webhook stops no deliveries of another tenant', async (t) => {
    const { mine, other, theirs } = await fill(t)
    await t.webhooks.update('acme', mine, { status: 'inactive' })
    await t.webhooks.delete('acme', other)
    await t.webhooks.delete('acme', theirs)
    await t.webhooks.update('acme', theirs, { status: 'inactive' })
    const claimed = await t.claim()
    same(eventIds(claimed), ['evt_2'], 'the claimed deliveries')
    await t.recordAttempts(claimed.map(delivered))
    same(await t.deliveries.count('globex', theirs, { status: 'delivered' }), 1, 'the number delivered to globex')
  })
]

// Slugs that a storage might confuse with acme, or with all tenants.
const strangers = ['globex', 'nobody', 'ACME', 'acme ', 'acm_', '%', '', '__proto__', "acme' or '1'='1"]

/** Cases about webhooks of other tenants. */
export const webhookTenancyCases = [
  test('webhooks.find', 'a webhook of another tenant is neither found nor listed nor counted', async (t) => {
    const { id } = await t.addWebhook()
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    for (const stranger of strangers) {
      const own = stranger === 'globex' ? [theirs] : []
      same(await t.webhooks.find(stranger, id), null, `the webhook of acme that ${JSON.stringify(stranger)} finds`)
      same(await t.webhooks.list(stranger, firstRows), own, `the webhooks of ${JSON.stringify(stranger)}`)
      same(await t.webhooks.count(stranger, {}), own.length, `the number of webhooks of ${JSON.stringify(stranger)}`)
      same(await t.webhooks.count(stranger, { status: 'active' }), own.length, 'the number of active ones')
    }
  }),

  test('webhooks.findHealth', 'the health of another tenant\'s webhook is not shown', async (t) => {
    const { id } = await t.addWebhook()
    for (const stranger of strangers) {
      same(await t.webhooks.findHealth(stranger, id), null, `the health that ${JSON.stringify(stranger)} finds`)
    }
  }),

  test('webhooks.findGraceEnd', 'the grace period of another tenant\'s webhook is not shown', async (t) => {
    const { id } = await t.addWebhook()
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    for (const stranger of strangers) {
      same(await t.webhooks.findGraceEnd(stranger, id), null,
        `the end of the grace period that ${JSON.stringify(stranger)} finds`)
    }
  }),

  test('webhooks.update', 'a webhook of another tenant is neither changed nor deleted', async (t) => {
    const webhook = await t.addWebhook()
    for (const stranger of strangers) {
      same(await t.webhooks.update(stranger, webhook.id, { name: 'changed', status: 'inactive' }), null,
        `an update by ${JSON.stringify(stranger)}`)
      same(await t.webhooks.delete(stranger, webhook.id), false, `a deletion by ${JSON.stringify(stranger)}`)
    }
    same(await t.webhooks.find('acme', webhook.id), webhook, 'the webhook')
  }),

  test('webhooks.findSecrets', 'the secret of another tenant\'s webhook is neither shown nor changed', async (t) => {
    const webhook = await t.addWebhook({ secret: 'sesame' })
    for (const stranger of strangers) {
      same(await t.webhooks.findSecrets(stranger, webhook.id), null,
        `the secrets that ${JSON.stringify(stranger)} finds`)
      same(await t.webhooks.rotateSecret(stranger, webhook.id, { secret: 'changed', gracePeriodSeconds: 60 }), null,
        `a rotation by ${JSON.stringify(stranger)}`)
      same(await t.webhooks.replaceSecret(stranger, webhook.id, { from: 'sesame', to: 'changed' }), false,
        `a replacement by ${JSON.stringify(stranger)}`)
    }
    same(
      [await t.webhooks.findSecrets('acme', webhook.id), await t.webhooks.find('acme', webhook.id)],
      [['sesame'], webhook],
      'the secrets, and the webhook'
    )
  }),

  test('webhooks.create', 'webhooks of other tenants do not count towards maxPerTenant', async (t) => {
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.addWebhook({ tenantSlug: 'globex' })
    const id = await t.webhooks.nextId('acme')
    const created = await t.webhooks.create(
      'acme',
      {
        id,
        tenantSlug: 'acme',
        name: 'First',
        status: 'active',
        target_url: 'https://hooks.example/',
        event_types: ['a.b'],
        secret: 's'
      },
      1
    )
    same([created?.id, await t.webhooks.count('globex', {})], [id, 2],
      'the webhook created for acme, and the number of webhooks of globex')
  })
]
