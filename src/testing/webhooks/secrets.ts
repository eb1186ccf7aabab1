import { benchCase } from '../support/bench.js'
import { exactly, isInstant, same } from '../support/expect.js'

const valid = 'The secrets that are valid now, the newest first: one, or two during a grace period.'
const rotates = 'Makes `secret` the secret, and the one of before the previous one, which expires after the grace period. … ' +
  'Sets `updated_at` to now.'
const drops = 'A previous one that was still valid is dropped at once.'
const lists = 'The secrets of the webhooks of all tenants with ids above `afterId`, by ascending id, `limit` at most.'
const replaces = 'Puts another text in the place of a stored secret, which may be the previous one, and changes nothing else.'
const opaque = 'Opaque text, kept as it is; it may be sealed. … `null` without the webhook.'
const expiry = 'Seconds for which the secret of before stays valid, 0 or more; at 0 it is dropped at once. … ' +
  '`null` if there is no such webhook.'
const claimed = 'The secrets that are valid now, the newest first.'

/** Cases about secrets and their rotation. */
export const secretCases = [
  benchCase('webhooks', {
    port: 'webhooks.findSecrets', says: opaque, name: 'a secret is kept as it is, whatever it holds'
  }, async ({ webhooks, addWebhook }) => {
    for (const secret of ['whsec_AAEC+/==', `sealed:${'x'.repeat(500)}`, '{"a":"é \u{1f600}\\n"}', ' padded ']) {
      const { id } = await addWebhook({ secret })
      same(await webhooks.findSecrets('acme', id), [secret], 'the secrets of a new webhook')
    }
    same(await webhooks.findSecrets('acme', 2 ** 40), null, 'the secrets of a webhook that does not exist')
  }),

  benchCase('webhooks', {
    port: 'webhooks.rotateSecret',
    says: rotates,
    name: 'both secrets are valid during the grace period, the newest first'
  }, async ({ webhooks, addWebhook, wait }) => {
    const webhook = await addWebhook({ secret: 'first' })
    await wait(5)
    const rotated = await webhooks.rotateSecret('acme', webhook.id, { secret: 'second', gracePeriodSeconds: 60 })
    isInstant(rotated?.previous_secret_expires_at, 'previous_secret_expires_at is a date as it crosses the ports')
    const { previous_secret_expires_at: expiresAt, updated_at: updatedAt } = rotated
    same(rotated, { ...webhook, updated_at: updatedAt, previous_secret_expires_at: expiresAt }, 'what rotateSecret returns')
    same(Date.parse(expiresAt) - Date.parse(updatedAt), 60_000, 'milliseconds from updated_at to the end of the grace period')
    same(updatedAt > webhook.updated_at, true, 'whether updated_at has moved on')
    same(await webhooks.findSecrets('acme', webhook.id), ['second', 'first'], 'the secrets')
    same((await webhooks.find('acme', webhook.id))?.updated_at, updatedAt, 'updated_at, asked for again')
  }),

  benchCase('webhooks', {
    port: 'webhooks.findSecrets',
    says: valid,
    name: 'the previous secret ceases to be valid when its grace period is over'
  }, async ({ webhooks, deliveries, addWebhook, emit, wait }) => {
    const { id } = await addWebhook({ secret: 'first' })
    await emit()
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 1 })
    await wait(1000)
    same(await webhooks.findSecrets('acme', id), ['second'], 'what findSecrets returns')
    same((await webhooks.listSecrets({ afterId: id - 1, limit: 1 }))[0]?.secrets, ['second'], 'what listSecrets returns')
    same((await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 1000 }))[0]?.secrets, ['second'], 'what a claim has')
  }),

  benchCase('webhooks', {
    port: 'webhooks.rotateSecret',
    says: expiry,
    name: 'without a grace period the secret of before is dropped at once'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ secret: 'first' })
    const rotated = await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 0 })
    same([rotated?.id, rotated?.previous_secret_expires_at], [id, null], 'the id and the end of the grace period')
    same(await webhooks.findSecrets('acme', id), ['second'], 'the secrets')
    same(await webhooks.rotateSecret('acme', id + 1000, { secret: 'x', gracePeriodSeconds: 0 }), null,
      'a webhook that does not exist')
  }),

  benchCase('webhooks', {
    port: 'webhooks.rotateSecret', says: drops, name: 'rotating again drops the older secret at once'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ secret: 'first' })
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    await webhooks.rotateSecret('acme', id, { secret: 'third', gracePeriodSeconds: 60 })
    same(await webhooks.findSecrets('acme', id), ['third', 'second'], 'the secrets after two rotations')
    await webhooks.rotateSecret('acme', id, { secret: 'fourth', gracePeriodSeconds: 0 })
    same(await webhooks.findSecrets('acme', id), ['fourth'], 'the secrets after one more, without a grace period')
  }),

  benchCase('webhooks', {
    port: 'deliveries.claimDue', says: claimed, name: 'a claim has the secrets that are valid then'
  }, async ({ webhooks, addWebhook, emit, claimOne }) => {
    const { id } = await addWebhook({ secret: 'first' })
    await emit()
    await emit()
    same((await claimOne()).secrets, ['first'], 'the secrets of a claim before the rotation')
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    same((await claimOne()).secrets, ['second', 'first'], 'the secrets of a claim during the grace period')
  }),

  benchCase('webhooks', {
    port: 'webhooks.listSecrets', says: lists, name: 'the secrets of all tenants are listed by ascending id'
  }, async ({ webhooks, addWebhook }) => {
    const ids: number[] = []
    for (const [tenantSlug, secret] of [['acme', 'a'], ['globex', 'b'], ['acme', 'c'], ['globex', 'd'], ['acme', 'e']] as const) {
      ids.push((await addWebhook({ tenantSlug, secret, status: secret === 'd' ? 'inactive' : 'active' })).id)
    }
    const [a, b, c, d, e] = exactly(ids, 5, 'webhooks are created')
    await webhooks.delete('acme', c)
    await webhooks.rotateSecret('acme', a, { secret: 'a2', gracePeriodSeconds: 60 })
    const all = [
      { tenantSlug: 'acme', webhookId: a, secrets: ['a2', 'a'] }, { tenantSlug: 'globex', webhookId: b, secrets: ['b'] },
      { tenantSlug: 'globex', webhookId: d, secrets: ['d'] }, { tenantSlug: 'acme', webhookId: e, secrets: ['e'] }
    ].sort((one, other) => one.webhookId - other.webhookId)
    const [, second, , last] = exactly(all, 4, 'webhooks are left')
    same(await webhooks.listSecrets({ afterId: 0, limit: 10 }), all, 'all of them')
    same(await webhooks.listSecrets({ afterId: 0, limit: 2 }), all.slice(0, 2), 'the first two')
    same(await webhooks.listSecrets({ afterId: second.webhookId, limit: 2 }), all.slice(2),
      'the two after these')
    same(await webhooks.listSecrets({ afterId: last.webhookId, limit: 2 }), [], 'what comes after the last')
  }),

  benchCase('webhooks', {
    port: 'webhooks.replaceSecret',
    says: replaces,
    name: 'a stored secret is replaced in its place, and nothing else changes'
  }, async ({ webhooks, addWebhook, wait }) => {
    const { id } = await addWebhook({ secret: 'first' })
    const other = await addWebhook({ secret: 'second' })
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    const before = await webhooks.find('acme', id)
    await wait(5)
    same(await webhooks.replaceSecret('acme', id, { from: 'first', to: 'first, sealed' }), true,
      'replacing the previous secret')
    same(await webhooks.replaceSecret('acme', id, { from: 'second', to: 'second, sealed' }), true, 'replacing the secret')
    same(await webhooks.findSecrets('acme', id), ['second, sealed', 'first, sealed'], 'the secrets')
    same(await webhooks.findSecrets('acme', other.id), ['second'],
      'the secret of another webhook, the same text as one replaced')
    same(await webhooks.find('acme', id), before, 'the webhook, updated_at included')
  }),

  benchCase('webhooks', {
    port: 'webhooks.replaceSecret', says: '`false` if the webhook has no such secret.', name: 'a secret that the webhook does not have is not replaced'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook({ secret: 'first' })
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 0 })
    same(await webhooks.replaceSecret('acme', id, { from: 'first', to: 'changed' }), false,
      'replacing a secret that was dropped')
    same(await webhooks.replaceSecret('acme', id + 1000, { from: 'second', to: 'changed' }), false,
      'replacing that of no webhook')
    same(await webhooks.findSecrets('acme', id), ['second'], 'the secrets')
  })
]
