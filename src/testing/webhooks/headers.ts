import { benchCases } from '../support/driver.js'
import { same } from '../support/expect.js'
import { firstRows, named } from '../support/samples.js'

const test = benchCases('webhooks')

const stored = { names: ['X-Api-Key', 'Authorization'], sealed: 'sealed "é"' }

/** Cases about the headers of webhooks. */
export const headerCases = [
  test('create', 'a webhook shows the names of its headers, and never their values', async (t) => {
    const names = { 'X-Api-Key': null, Authorization: null }
    const created = await t.addWebhook({ headers: stored })
    same(
      [created.headers, (await t.webhooks.find('acme', created.id))?.headers],
      [names, names],
      'the headers that create and find return'
    )
    same(
      (await t.webhooks.list('acme', firstRows)).map(({ headers }) => headers),
      [names],
      'the headers that list returns'
    )
    const without = await t.addWebhook()
    same(
      [without.headers, (await t.addWebhook({ headers: null })).headers],
      [null, null],
      'the headers of webhooks without any'
    )
    same(
      [await t.webhooks.findHeaders('acme', created.id), await t.webhooks.findHeaders('acme', without.id)],
      [stored.sealed, null],
      'the sealed headers'
    )
  }),

  test('findHeaders', 'headers of another tenant and of a webhook that does not exist are not found', async (t) => {
    const { id } = await t.addWebhook({ headers: stored })
    same(
      [await t.webhooks.findHeaders('globex', id), await t.webhooks.findHeaders('acme', id + 1000)],
      [null, null],
      'the sealed headers'
    )
  }),

  test('update', 'headers stay with other changes, are replaced as a whole, and removed by null', async (t) => {
    const { id } = await t.addWebhook({ headers: stored })
    same(
      (await t.webhooks.update('acme', id, { name: 'Renamed' }))?.headers,
      { 'X-Api-Key': null, Authorization: null },
      'the headers after another change'
    )
    same(
      (await t.webhooks.update('acme', id, { headers: { names: ['X-Token'], sealed: 'other' } }))?.headers,
      { 'X-Token': null },
      'the headers after a change'
    )
    same(await t.webhooks.findHeaders('acme', id), 'other', 'the sealed headers')
    same(
      [(await t.webhooks.update('acme', id, { headers: null }))?.headers, await t.webhooks.findHeaders('acme', id)],
      [null, null],
      'the headers after null'
    )
  }),

  test('deliveries.claimDue', 'a claim has the headers of that time', async (t) => {
    const { id } = await t.addWebhook()
    await t.emit()
    await t.emit()
    same((await t.claimOne()).headers, null, 'the headers of a claim without any')
    await t.webhooks.update('acme', id, { headers: stored })
    same((await t.claimOne()).headers, stored.sealed, 'the headers of a claim')
  }),

  test('replaceSecret',
    'sealed headers are listed with the secrets, and replacing them changes nothing else', async (t) => {
      const { id } = await t.addWebhook({ secret: 'secret', headers: stored })
      const other = await t.addWebhook({ headers: stored })
      const before = await t.webhooks.find('acme', id)
      await t.wait(5)
      same(
        await t.webhooks.replaceSecret('acme', id, { from: stored.sealed, to: 'resealed' }),
        true,
        'replacing the headers'
      )
      same(
        await t.webhooks.replaceSecret('acme', id, { from: stored.sealed, to: 'again' }),
        false,
        'replacing what is no longer there'
      )
      const listed = await t.webhooks.listSecrets({ afterId: 0, limit: 10 })
      same(
        listed.map(({ webhookId, secrets, headers }) => [webhookId, secrets.length, headers]),
        [
          [id, 1, 'resealed'],
          [other.id, 1, stored.sealed]
        ],
        'all secrets and headers'
      )
      same(
        [await t.webhooks.find('acme', id), await t.webhooks.findSecrets('acme', id)],
        [before, ['secret']],
        'the webhook, updated_at included, and its secret'
      )
    }),

  test('renameTenant', 'headers of a renamed tenant are those that reseal returns', async (t) => {
    const { id } = await t.addWebhook({ headers: stored })
    const without = await t.addWebhook()
    await t.webhooks.renameTenant(named('acme'), named('globex'), {
      reseal: (secret, webhookId) => `${secret} of ${webhookId}`
    })
    same(
      [await t.webhooks.findHeaders('globex', id), await t.webhooks.findHeaders('globex', without.id)],
      [`${stored.sealed} of ${id}`, null],
      'the sealed headers'
    )
    same((await t.webhooks.find('globex', id))?.headers, { 'X-Api-Key': null, Authorization: null }, 'their names')
  })
]
