import { benchCase } from '../support/driver.js'
import { same } from '../support/expect.js'
import { firstRows, named } from '../support/samples.js'

const stored = { names: ['X-Api-Key', 'Authorization'], sealed: 'sealed "é"' }

/** Cases about the headers of webhooks. */
export const headerCases = [
  benchCase('webhooks', {
    port: 'webhooks.create', name: 'a webhook shows the names of its headers, and never their values'
  }, async ({ webhooks, addWebhook }) => {
    const names = { 'X-Api-Key': null, Authorization: null }
    const created = await addWebhook({ headers: stored })
    same(
      [created.headers, (await webhooks.find('acme', created.id))?.headers],
      [names, names],
      'the headers that create and find return'
    )
    same(
      (await webhooks.list('acme', firstRows)).map(({ headers }) => headers),
      [names],
      'the headers that list returns'
    )
    const without = await addWebhook()
    same(
      [without.headers, (await addWebhook({ headers: null })).headers],
      [null, null],
      'the headers of webhooks without any'
    )
    same(
      [await webhooks.findHeaders('acme', created.id), await webhooks.findHeaders('acme', without.id)],
      [stored.sealed, null],
      'the sealed headers'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.findHeaders', name: 'headers of another tenant and of a webhook that does not exist are not found'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ headers: stored })
    same(
      [await webhooks.findHeaders('globex', id), await webhooks.findHeaders('acme', id + 1000)],
      [null, null],
      'the sealed headers'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.update', name: 'headers stay with other changes, are replaced as a whole, and removed by null'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ headers: stored })
    same(
      (await webhooks.update('acme', id, { name: 'Renamed' }))?.headers,
      { 'X-Api-Key': null, Authorization: null },
      'the headers after another change'
    )
    same(
      (await webhooks.update('acme', id, { headers: { names: ['X-Token'], sealed: 'other' } }))?.headers,
      { 'X-Token': null },
      'the headers after a change'
    )
    same(await webhooks.findHeaders('acme', id), 'other', 'the sealed headers')
    same(
      [(await webhooks.update('acme', id, { headers: null }))?.headers, await webhooks.findHeaders('acme', id)],
      [null, null],
      'the headers after null'
    )
  }),

  benchCase('webhooks', {
    port: 'deliveries.claimDue', name: 'a claim has the headers of that time'
  }, async ({ webhooks, addWebhook, emit, claimOne }) => {
    const { id } = await addWebhook()
    await emit()
    await emit()
    same((await claimOne()).headers, null, 'the headers of a claim without any')
    await webhooks.update('acme', id, { headers: stored })
    same((await claimOne()).headers, stored.sealed, 'the headers of a claim')
  }),

  benchCase('webhooks', {
    port: 'webhooks.replaceSecret',
    name: 'sealed headers are listed with the secrets, and replacing them changes nothing else'
  }, async ({ webhooks, addWebhook, wait }) => {
    const { id } = await addWebhook({ secret: 'secret', headers: stored })
    const other = await addWebhook({ headers: stored })
    const before = await webhooks.find('acme', id)
    await wait(5)
    same(
      await webhooks.replaceSecret('acme', id, { from: stored.sealed, to: 'resealed' }),
      true,
      'replacing the headers'
    )
    same(
      await webhooks.replaceSecret('acme', id, { from: stored.sealed, to: 'again' }),
      false,
      'replacing what is no longer there'
    )
    const listed = await webhooks.listSecrets({ afterId: 0, limit: 10 })
    same(
      listed.map(({ webhookId, secrets, headers }) => [webhookId, secrets.length, headers]),
      [
        [id, 1, 'resealed'],
        [other.id, 1, stored.sealed]
      ],
      'all secrets and headers'
    )
    same(
      [await webhooks.find('acme', id), await webhooks.findSecrets('acme', id)],
      [before, ['secret']],
      'the webhook, updated_at included, and its secret'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.renameTenant', name: 'headers of a renamed tenant are those that reseal returns'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ headers: stored })
    const without = await addWebhook()
    await webhooks.renameTenant(named('acme'), named('globex'), {
      reseal: (secret, webhookId) => `${secret} of ${webhookId}`
    })
    same(
      [await webhooks.findHeaders('globex', id), await webhooks.findHeaders('globex', without.id)],
      [`${stored.sealed} of ${id}`, null],
      'the sealed headers'
    )
    same((await webhooks.find('globex', id))?.headers, { 'X-Api-Key': null, Authorization: null }, 'their names')
  })
]
