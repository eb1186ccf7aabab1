import { benchCases, casesWith } from '../support/driver.js'
import { exactly, isInstant, same } from '../support/expect.js'
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

  secretTest('rotateSecret', 'both secrets are valid during the grace period, newest first', async (t, webhook) => {
    await t.wait(5)
    const rotated = await t.webhooks.rotateSecret('acme', webhook.id, { secret: 'second', gracePeriodSeconds: 60 })
    isInstant(rotated?.previous_secret_expires_at,
      'previous_secret_expires_at is an RFC 3339 date in UTC with milliseconds')
    const { previous_secret_expires_at: expiresAt, updated_at: updatedAt } = rotated
    same(rotated, { ...webhook, updated_at: updatedAt, previous_secret_expires_at: expiresAt },
      'the result of rotateSecret')
    same(Date.parse(expiresAt) - Date.parse(updatedAt), 60_000,
      'milliseconds from updated_at to the end of the grace period')
    same(updatedAt > webhook.updated_at, true, 'updated_at has changed')
    same(await t.webhooks.findSecrets('acme', webhook.id), ['second', 'first'], 'the secrets')
    same((await t.webhooks.find('acme', webhook.id))?.updated_at, updatedAt, 'updated_at, read again')
  }),

  secretTest('findSecrets', 'the previous secret expires at the end of its grace period', async (t, { id }) => {
    await t.emit()
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 1 })
    await t.wait(1000)
    same(await t.webhooks.findSecrets('acme', id), ['second'], 'the result of findSecrets')
    same((await t.webhooks.listSecrets({ afterId: id - 1, limit: 1 }))[0]?.secrets, ['second'],
      'the result of listSecrets')
    same((await t.deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 1000 }))[0]?.secrets, ['second'],
      'the secrets of a claim')
  }),

  test('findGraceEnd', 'the end of a grace period is returned until it has passed', async (t) => {
    const { id } = await t.addWebhook()
    const graceEndOf = (): Promise<string | null> => t.webhooks.findGraceEnd('acme', id)
    same(await graceEndOf(), null, 'the end of a grace period before a rotation')
    const first = await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    same(await graceEndOf(), first?.previous_secret_expires_at, 'the end of the grace period after a rotation')
    const second = await t.webhooks.rotateSecret('acme', id, { secret: 'third', gracePeriodSeconds: 1 })
    same(await graceEndOf(), second?.previous_secret_expires_at, 'the end of the grace period after another rotation')
    await t.wait(1000)
    same(await graceEndOf(), null, 'the end of an expired grace period')
    await t.webhooks.rotateSecret('acme', id, { secret: 'fourth', gracePeriodSeconds: 60 })
    await t.webhooks.rotateSecret('acme', id, { secret: 'fifth', gracePeriodSeconds: 0 })
    same(await graceEndOf(), null, 'the end of a grace period after a rotation without one')
    same(await t.webhooks.findGraceEnd('acme', id + 1000), null,
      'the end of a grace period of a webhook that does not exist')
  }),

  secretTest('rotateSecret', 'without a grace period the previous secret is dropped immediately', async (t, { id }) => {
    const rotated = await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 0 })
    same([rotated?.id, rotated?.previous_secret_expires_at], [id, null], 'the id and the end of the grace period')
    same(await t.webhooks.findSecrets('acme', id), ['second'], 'the secrets')
    same(await t.webhooks.rotateSecret('acme', id + 1000, { secret: 'x', gracePeriodSeconds: 0 }), null,
      'a webhook that does not exist')
  }),

  secretTest('rotateSecret', 'rotating again drops the older secret immediately', async (t, { id }) => {
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    await t.webhooks.rotateSecret('acme', id, { secret: 'third', gracePeriodSeconds: 60 })
    same(await t.webhooks.findSecrets('acme', id), ['third', 'second'], 'the secrets after two rotations')
    await t.webhooks.rotateSecret('acme', id, { secret: 'fourth', gracePeriodSeconds: 0 })
    same(await t.webhooks.findSecrets('acme', id), ['fourth'],
      'the secrets after another rotation, without a grace period')
  }),

  secretTest('deliveries.claimDue', 'a claim contains the currently valid secrets', async (t, { id }) => {
    await t.emit()
    await t.emit()
    same((await t.claimOne()).secrets, ['first'], 'the secrets of a claim before the rotation')
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    same((await t.claimOne()).secrets, ['second', 'first'], 'the secrets of a claim during the grace period')
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

  headerTest('findHeaders',
    'headers of another tenant or of a nonexistent webhook are not found', async (t, { id }) => {
      same([await t.webhooks.findHeaders('globex', id), await t.webhooks.findHeaders('acme', id + 1000)], [null, null],
        'the sealed headers')
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
