import { benchCases, casesWith } from '../support/driver.js'
import { exactly, given, same } from '../support/expect.js'
import { firstRows } from '../support/samples.js'

const test = benchCases('webhooks')
const secretTest = casesWith((t) => t.addWebhook({ secret: 'first' }), 'webhooks')
const headerTest = casesWith((t) => t.addWebhook({ headers: stored }), 'webhooks')

const stored = { names: ['X-Api-Key', 'Authorization'], sealed: 'sealed "é"' }

export const secretCases = [
  // About secrets and their rotation.
  test('findSecrets', 'a secret is stored unchanged, with any characters', async (t) => {
    for (const secret of ['whsec_AAEC+/==', `sealed:${'x'.repeat(500)}`, '{"a":"é \u{1f600}\\n"}', ' padded ']) {
      const { id } = await t.addWebhook({ secret })
      same(await t.webhooks.findSecrets('acme', id), [secret], 'the secrets of a new webhook')
    }
    same(await t.webhooks.findSecrets('acme', 2 ** 40), null, 'the secrets of a webhook that does not exist')
  }),

  secretTest('rotateSecret', 'two secrets are valid during a grace period, newest first', async (t, webhook) => {
    const { id } = webhook
    for (let count = 0; count < 4; count++) await t.emit()
    const read = async (): Promise<unknown[]> => {
      const [listed] = await t.webhooks.listSecrets({ afterId: id - 1, limit: 1 })
      return [await t.webhooks.findSecrets('acme', id), listed?.secrets, (await t.claimOne()).secrets]
    }
    same([await read(), await t.webhooks.findGraceEnd('acme', id)], [[['first'], ['first'], ['first']], null],
      'the secrets that findSecrets, listSecrets and a claim return, and the end of the grace period')
    const rotations: Array<[secret: string, gracePeriodSeconds: number, valid: string[]]> = [
      ['second', 60, ['second', 'first']], ['third', 0, ['third']], ['fourth', 60, ['fourth', 'third']]
    ]
    for (const [secret, gracePeriodSeconds, valid] of rotations) {
      await t.wait(5)
      const rotated = given(await t.webhooks.rotateSecret('acme', id, { secret, gracePeriodSeconds }), 'the result')
      const { previous_secret_expires_at: expiresAt, updated_at: updatedAt } = rotated
      const end = new Date(Date.parse(updatedAt) + gracePeriodSeconds * 1000).toISOString()
      same(rotated, {
        ...webhook, updated_at: updatedAt, previous_secret_expires_at: gracePeriodSeconds === 0 ? null : end
      }, `the result of rotateSecret with ${gracePeriodSeconds} seconds`)
      same([updatedAt > webhook.updated_at, (await t.webhooks.find('acme', id))?.updated_at], [true, updatedAt],
        'updated_at has changed, and is returned by find')
      same([await t.webhooks.findSecrets('acme', id), await t.webhooks.findGraceEnd('acme', id)], [valid, expiresAt],
        `the secrets and the end of the grace period after ${secret}`)
    }
    same(await read(), Array(3).fill(['fourth', 'third']), 'the secrets of each method during the grace period')
    await t.webhooks.rotateSecret('acme', id, { secret: 'fifth', gracePeriodSeconds: 1 })
    await t.wait(1000)
    same([await read(), await t.webhooks.findGraceEnd('acme', id)], [Array(3).fill(['fifth']), null],
      'the secrets and the end of the grace period after it has passed')
    same([await t.webhooks.rotateSecret('acme', id + 1000, { secret: 'x', gracePeriodSeconds: 0 }),
      await t.webhooks.findGraceEnd('acme', id + 1000)], [null, null], 'a webhook that does not exist')
  }),

  test('listSecrets', 'the secrets of all tenants are listed by ascending id', async (t) => {
    const ids: number[] = []
    for (const [tenantSlug, secret] of [
      ['acme', 'a'],
      ['globex', 'b'],
      ['acme', 'c'],
      ['globex', 'd'],
      ['acme', 'e']
    ] as const) {
      ids.push((await t.addWebhook({ tenantSlug, secret, status: secret === 'd' ? 'inactive' : 'active' })).id)
    }
    const [a, b, c, d, e] = exactly(ids, 5, 'webhooks created')
    await t.webhooks.delete('acme', c)
    await t.webhooks.rotateSecret('acme', a, { secret: 'a2', gracePeriodSeconds: 60 })
    const all = [
      { tenantId: 'acme', webhookId: a, secrets: ['a2', 'a'], headers: null },
      { tenantId: 'globex', webhookId: b, secrets: ['b'], headers: null },
      { tenantId: 'globex', webhookId: d, secrets: ['d'], headers: null },
      { tenantId: 'acme', webhookId: e, secrets: ['e'], headers: null }
    ].sort((one, other) => one.webhookId - other.webhookId)
    const [, second, , last] = exactly(all, 4, 'webhooks left')
    same(await t.webhooks.listSecrets({ afterId: 0, limit: 10 }), all, 'all secrets')
    same(await t.webhooks.listSecrets({ afterId: 0, limit: 2 }), all.slice(0, 2),
      'the secrets of the first two webhooks')
    same(await t.webhooks.listSecrets({ afterId: second.webhookId, limit: 2 }), all.slice(2),
      'the secrets of the two after these')
    same(await t.webhooks.listSecrets({ afterId: last.webhookId, limit: 2 }), [], 'the secrets after the last webhook')
  }),

  secretTest('replaceSecret', 'replacing a stored secret changes nothing else', async (t, { id }) => {
    const other = await t.addWebhook({ secret: 'second' })
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    const before = await t.webhooks.find('acme', id)
    await t.wait(5)
    same(await t.webhooks.replaceSecret('acme', id, { from: 'first', to: 'first, sealed' }), true,
      'replacing the previous secret')
    same(await t.webhooks.replaceSecret('acme', id, { from: 'second', to: 'second, sealed' }), true,
      'replacing the current secret')
    same(await t.webhooks.findSecrets('acme', id), ['second, sealed', 'first, sealed'], 'the secrets')
    same(await t.webhooks.findSecrets('acme', other.id), ['second'], 'the secret of another webhook with the same text')
    same(await t.webhooks.find('acme', id), before, 'the webhook, updated_at included')
  }),

  secretTest('replaceSecret', 'a secret that the webhook does not have is not replaced', async (t, { id }) => {
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 0 })
    same(await t.webhooks.replaceSecret('acme', id, { from: 'first', to: 'changed' }), false,
      'replacing a secret that was dropped')
    same(await t.webhooks.replaceSecret('acme', id + 1000, { from: 'second', to: 'changed' }), false,
      'replacing a secret of a nonexistent webhook')
    same(await t.webhooks.findSecrets('acme', id), ['second'], 'the secrets')
  }),

  // About the headers of webhooks.
  test('create', 'a webhook shows the names of its headers, but never their values', async (t) => {
    const names = { 'X-Api-Key': null, Authorization: null }
    const created = await t.addWebhook({ headers: stored })
    same([created.headers, (await t.webhooks.find('acme', created.id))?.headers], [names, names],
      'the headers that create and find return')
    same((await t.webhooks.list('acme', firstRows)).map(({ headers }) => headers), [names],
      'the headers that list returns')
    const without = await t.addWebhook()
    same([without.headers, (await t.addWebhook({ headers: null })).headers], [null, null],
      'the headers of webhooks without any')
    same([await t.webhooks.findHeaders('acme', created.id), await t.webhooks.findHeaders('acme', without.id)],
      [stored.sealed, null], 'the sealed headers')
    const unnamed = await t.addWebhook({ headers: { names: [], sealed: stored.sealed } })
    same([unnamed.headers, await t.webhooks.findHeaders('acme', unnamed.id)], [null, stored.sealed],
      'the headers, and the sealed headers, of a webhook without names')
  }),

  headerTest('update',
    'other changes keep headers, new headers replace them all, null removes them', async (t, { id }) => {
      same((await t.webhooks.update('acme', id, { name: 'Renamed' }))?.headers,
        { 'X-Api-Key': null, Authorization: null }, 'the headers after another change')
      same((await t.webhooks.update('acme', id, { headers: { names: ['X-Token'], sealed: 'other' } }))?.headers,
        { 'X-Token': null }, 'the headers after a change')
      same(await t.webhooks.findHeaders('acme', id), 'other', 'the sealed headers')
      same((await t.webhooks.update('acme', id, { headers: null }))?.headers, null, 'the headers after null')
      same(await t.webhooks.findHeaders('acme', id), null, 'the sealed headers after null')
    }),

  test('deliveries.claimDue', 'a claim contains the current headers', async (t) => {
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
      same(await t.webhooks.replaceSecret('acme', id, { from: stored.sealed, to: 'resealed' }), true,
        'replacing the headers')
      same(await t.webhooks.replaceSecret('acme', id, { from: stored.sealed, to: 'again' }), false,
        'replacing headers that were already replaced')
      const listed = await t.webhooks.listSecrets({ afterId: 0, limit: 10 })
      same(listed.map(({ webhookId, secrets, headers }) => [webhookId, secrets.length, headers]),
        [[id, 1, 'resealed'], [other.id, 1, stored.sealed]], 'all secrets and headers')
      same([await t.webhooks.find('acme', id), await t.webhooks.findSecrets('acme', id)], [before, ['secret']],
        'the webhook, updated_at included, and its secret')
    }),

  headerTest('renameTenant', 'a rename stores the headers that reseal returns', async (t, { id }) => {
    const without = await t.addWebhook()
    await t.rename({ reseal: (secret, webhookId) => `${secret} of ${webhookId}` })
    same([await t.webhooks.findHeaders('globex', id), await t.webhooks.findHeaders('globex', without.id)],
      [`${stored.sealed} of ${id}`, null], 'the sealed headers')
    same((await t.webhooks.find('globex', id))?.headers, { 'X-Api-Key': null, Authorization: null }, 'their names')
  })
]
