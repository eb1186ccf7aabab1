import t from 'tap'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

t.test('rotating a key', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  await migrate(pool)
  const keys = apiKeys(pool)
  const lookup = postgresKeyLookup(pool)
  const issue = (input: object = {}) => keys.issue({ tenantSlug: 'acme', scopes: ['jobs:read', 'candidates:read'], name: 'CRM', createdBy: 'ada', ...input })
  const isFound = async (key: string): Promise<boolean> => await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }) !== null

  function secondsUntil (date: string | null | undefined): number {
    return Math.round((Date.parse(date ?? '') - Date.now()) / 1000)
  }

  /** Lets so many seconds go by for a key. */
  async function age (id: string, seconds: number): Promise<void> {
    await pool.query("update recruiting.api_keys set replaced_at = replaced_at - $2 * interval '1 second' where id = $1", [id, seconds])
  }

  t.test('makes a key with an id of its own; the old one works for a day more', async (t) => {
    const old = await issue({
      expiresAt: '2090-01-01T00:00:00Z', allowedIps: ['203.0.113.0/24', '2001:db8::/32'], candidateFields: ['full_name'], jobFields: []
    })
    const { key, id, start, createdAt, ...copied } = await keys.rotate({ tenantSlug: 'acme' }, old.id)
    t.strictSame(copied, {
      tenantSlug: 'acme',
      tenantId: 'acme',
      name: 'CRM',
      scopes: ['jobs:read', 'candidates:read'],
      allowedIps: ['203.0.113.0/24', '2001:db8::/32'],
      candidateFields: ['full_name'],
      jobFields: [],
      createdBy: 'ada',
      expiresAt: '2090-01-01T00:00:00.000Z',
      lastUsedAt: null,
      revokedAt: null
    })
    t.not(id, old.id)
    t.not(key, old.key)
    t.equal(start, key.slice(3, 7))
    t.strictSame([await isFound(old.key), await isFound(key)], [true, true])
    t.ok(Math.abs(secondsUntil((await keys.find({ tenantSlug: 'acme' }, old.id))?.expiresAt) - 86_400) < 60)
    await age(old.id, 86_400)
    t.strictSame([await isFound(old.key), await isFound(key)], [false, true])
  })

  t.test('with an overlap of 0 ends the old key at once', async (t) => {
    const old = await issue()
    const { key } = await keys.rotate({ tenantSlug: 'acme' }, old.id, { overlapSeconds: 0 })
    t.strictSame([await isFound(old.key), await isFound(key)], [false, true])
  })

  t.test('never prolongs the old key, neither its own date nor an earlier overlap', async (t) => {
    const soon = await issue({ expiresAt: new Date(Date.now() + 60_000) })
    const replacement = await keys.rotate({ tenantSlug: 'acme' }, soon.id)
    t.equal((await keys.find({ tenantSlug: 'acme' }, soon.id))?.expiresAt, soon.expiresAt)
    t.equal(replacement.expiresAt, soon.expiresAt, 'nor does the new key outlive it')

    const old = await issue()
    await keys.rotate({ tenantSlug: 'acme' }, old.id, { overlapSeconds: 600 })
    const again = await keys.rotate({ tenantSlug: 'acme' }, old.id, { overlapSeconds: 86_400 })
    t.ok(secondsUntil((await keys.find({ tenantSlug: 'acme' }, old.id))?.expiresAt) <= 600)
    t.equal(again.expiresAt, null, 'the new key has the date of the old one, not what is left of its overlap')
  })

  t.test('is refused for a key that is unknown, revoked or no longer valid, and makes nothing', async (t) => {
    const revoked = await issue()
    await keys.revoke({ tenantSlug: 'acme' }, revoked.id)
    const expired = await issue({ expiresAt: '2020-01-01T00:00:00Z' })
    const replaced = await issue()
    await keys.rotate({ tenantSlug: 'acme' }, replaced.id, { overlapSeconds: 0 })
    const count = async (): Promise<number> => (await pool.query('select from recruiting.api_keys')).rows.length
    const before = await count()
    for (const id of ['key_none', revoked.id, expired.id, replaced.id]) {
      await t.rejects(keys.rotate({ tenantSlug: 'acme' }, id), { name: 'RecruitingApiError', code: 'not_found', field: 'id', message: 'id: the tenant has no valid key with this id' })
    }
    t.equal(await count(), before)
  })

  t.test('twice at once makes two keys that work, and the old one ends with the shorter overlap', async (t) => {
    const old = await issue()
    const made = await Promise.all([keys.rotate({ tenantSlug: 'acme' }, old.id, { overlapSeconds: 60 }), keys.rotate({ tenantSlug: 'acme' }, old.id)])
    t.equal(new Set(made.map(({ id }) => id)).size, 2)
    for (const { key } of made) t.equal(await isFound(key), true)
    t.ok(secondsUntil((await keys.find({ tenantSlug: 'acme' }, old.id))?.expiresAt) <= 60)
  })

  t.test('against a revocation at once, leaves the old key revoked', async (t) => {
    for (let round = 0; round < 5; round++) {
      const old = await issue()
      const [rotated, revoked] = await Promise.allSettled([keys.rotate({ tenantSlug: 'acme' }, old.id), keys.revoke({ tenantSlug: 'acme' }, old.id)])
      t.strictSame(revoked, { status: 'fulfilled', value: true })
      if (rotated.status === 'rejected') t.match(rotated.reason, { code: 'not_found' })
      t.equal(await isFound(old.key), false)
    }
  })
})
