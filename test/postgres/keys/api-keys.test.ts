import t from 'tap'
import { apiScopes, type AuditEntry, hashApiKey, isApiKey } from '../../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('API keys', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  const schema = 'keys'
  await migrate(pool, { schema })
  const lookup = postgresKeyLookup(pool, { schema })
  const keys = apiKeys(pool, { schema })
  const acme = { tenantSlug: 'acme' }
  const issue = (input: object = {}) => keys.issue({ tenantSlug: 'acme', scopes: ['jobs:read'], ...input })

  t.test('an issued key is found only for its tenant', async (t) => {
    const { id, key } = await issue({ scopes: ['webhooks:write', 'jobs:read'] })
    t.match(key, /^rk_\w{49}$/)
    t.strictSame(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), { id, scopes: ['webhooks:write', 'jobs:read'] })
    for (const tenantSlug of ['globex', 'ACME', 'acme ', '']) t.equal(await lookup({ tenantSlug, tenantId: tenantSlug, key }), null, tenantSlug)
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: hashApiKey(key) }), null)
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: key.slice(0, -1) }), null)
  })

  t.test('only its digest is kept, and the 4 characters after the prefix', async (t) => {
    const { id, key, start } = await apiKeys(pool, { schema, prefix: 'acmeats' }).issue({ tenantSlug: 'acme', scopes: [] })
    const { rows: [row] } = await pool.query('select k::text as all_of_it from keys.api_keys k where id = $1', [id])
    t.ok(isApiKey(key, 'acmeats'))
    t.equal(start, key.slice(8, 12))
    t.match(row.all_of_it, hashApiKey(key))
    t.match(row.all_of_it, `,${start},`)
    t.notMatch(row.all_of_it, key.slice(8, 13))
    t.notMatch(row.all_of_it, key.slice(12))
  })

  t.test('a key is issued with all its fields, and later shown without the key itself', async (t) => {
    const issued = await issue({ tenantSlug: 'umbrella', name: 'CRM sync', createdBy: 'ada@example.com', expiresAt: '2030-01-01T01:00:00+01:00' })
    const { key, ...stored } = issued
    t.strictSame({ ...stored, createdAt: typeof stored.createdAt }, {
      id: stored.id,
      tenantSlug: 'umbrella',
      tenantId: 'umbrella',
      name: 'CRM sync',
      scopes: ['jobs:read'],
      allowedIps: null,
      candidateFields: null,
      jobFields: null,
      start: key.slice(3, 7),
      createdAt: 'string',
      createdBy: 'ada@example.com',
      expiresAt: '2030-01-01T00:00:00.000Z',
      lastUsedAt: null,
      revokedAt: null
    })
    t.match(stored.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.match(stored.id, /^key_[0-9a-f]{32}$/)
    t.strictSame(await keys.find({ tenantSlug: 'umbrella' }, stored.id), stored)
    const { key: _other, ...plain } = await issue({ tenantSlug: 'umbrella', name: null, expiresAt: new Date('2031-01-01T00:00:00Z') })
    t.match(plain, { name: null, createdBy: null, expiresAt: '2031-01-01T00:00:00.000Z' })
    t.strictSame(await keys.list({ tenantSlug: 'umbrella' }), [stored, plain], 'in the order in which they were issued')
    t.strictSame(await keys.list({ tenantSlug: 'nobody' }), [])
    t.equal(await keys.find(acme, 'key_none'), null)
  })

  t.test('a revoked key is not found by a lookup from then on, and still shown', async (t) => {
    const { id, key } = await issue()
    t.equal(await keys.revoke(acme, id), true)
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), null)
    t.match(await keys.find(acme, id), { id, revokedAt: /Z$/ })
    t.equal(await keys.revoke(acme, id), false)
    t.equal(await keys.revoke(acme, 'key_none'), false)
  })

  t.test('issued, rotated and revoked keys are audited, with the actor', async (t) => {
    const entries: AuditEntry[] = []
    const audited = apiKeys(pool, { schema: 'keys', onAudit: (entry) => { entries.push(entry) } })
    const { id } = await audited.as('ops:ann').issue({ tenantSlug: 'acme', scopes: [] })
    const { id: next } = await audited.rotate({ tenantId: 'acme' }, id)
    await audited.as('ops:bob').revoke(acme, next)
    await audited.revoke(acme, next)
    t.strictSame(
      entries.map((entry) => [entry.actor, entry.operationId, entry.tenantSlug, entry.tenantId, entry.resource]),
      [
        ['ops:ann', 'issueKey', 'acme', 'acme', { kind: 'key', id }],
        [null, 'rotateKey', 'acme', 'acme', { kind: 'key', id }],
        ['ops:bob', 'revokeKey', 'acme', 'acme', { kind: 'key', id: next }]
      ]
    )
    t.throws(() => audited.as(''), { code: 'invalid_input', field: 'actor' })
  })

  t.test('invalid input for a key is refused', async (t) => {
    const { rows: before } = await pool.query('select from keys.api_keys')
    const wrong: Record<string, unknown[]> = {
      tenantSlug: ['', 'x'.repeat(101), 'a\nb', '\ud800', 5],
      tenantId: ['', 'x'.repeat(201), 'a\nb', '\ud800', 1.5, null, {}],
      scopes: ['jobs:read', [''], ['a b'], [5], null, ['candidates:raed']],
      allowedIps: ['10.0.0.0/8', [], Array.from({ length: 101 }, () => '10.0.0.0/8'), {}],
      candidateFields: ['full_name', [''], [5], ['a\nb'], Array.from({ length: 201 }, (_, at) => `field_${at}`), {}],
      jobFields: ['name', [null]],
      expiresAt: ['2026-01-01', 'tomorrow', new Date(Number.NaN), 5],
      name: ['', 'a\0b', 'x'.repeat(256), 5],
      createdBy: ['', '\ud800', {}],
      expires: [new Date()]
    }
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) await t.rejects(issue({ [field]: value }), { code: 'invalid_input', field }, field)
    }
    for (const input of [null, 'acme', []]) await t.rejects(keys.issue(input as never), { code: 'invalid_input' })
    await t.rejects(keys.list({ tenantSlug: '' }), { code: 'invalid_input', field: 'tenantSlug' })
    for (const id of ['', 5, 'a\0b', undefined]) {
      await t.rejects(keys.find(acme, id as string), { code: 'invalid_input', field: 'id' })
      await t.rejects(keys.revoke(acme, id as string), { code: 'invalid_input', field: 'id' })
      await t.rejects(keys.rotate(acme, id as string), { code: 'invalid_input', field: 'id' })
    }
    await t.rejects(keys.rotate(acme, 'key_1', { overlapSeconds: -1 }), { code: 'invalid_input', field: 'overlapSeconds' })
    await t.rejects(keys.rotate(acme, 'key_1', { overlap: 1 } as object), { code: 'invalid_input', field: 'overlap' })
    await t.rejects(keys.revoke(acme, 'key_1', { transactions: 1 } as object), { code: 'invalid_input', field: 'transactions' })
    const unreadable = { get tenantSlug (): string { throw new Error('unreadable') }, scopes: [] }
    await t.rejects(keys.issue(unreadable), { message: 'unreadable' })
    const { rows: after } = await pool.query('select from keys.api_keys')
    t.equal(after.length, before.length)
  })

  t.test('options that cannot be are refused', async (t) => {
    for (const create of [apiKeys, postgresKeyLookup]) {
      t.throws(() => create(null as never), { code: 'invalid_option', field: 'pool' })
      t.throws(() => create(pool, { schema: '' }), { code: 'invalid_option', field: 'schema' })
      t.throws(() => create(pool, { prefix: 'RK' }), { code: 'invalid_option', field: 'prefix' })
      t.throws(() => create(pool, { queryTimeoutMs: 1 }), { code: 'invalid_option', field: 'queryTimeoutMs' })
    }
    for (const ownScopes of ['a:b', [''], [5], null]) t.throws(() => apiKeys(pool, { ownScopes: ownScopes as never }), { code: 'invalid_option', field: 'ownScopes' })
    t.throws(() => postgresKeyLookup(pool, { recordUses: 1 as never }), { code: 'invalid_option', field: 'recordUses' })
    t.throws(() => postgresKeyLookup(pool, { clock: {} as never }), { code: 'invalid_option', field: 'clock.now' })
  })
})

t.test('keys belong to a tenant', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)
  const lookUp = postgresKeyLookup(pool)
  const acme = { tenantSlug: 'acme' }
  const globex = { tenantSlug: 'globex' }
  const rows = async (): Promise<unknown[]> => (await pool.query('select * from recruiting.api_keys order by id')).rows

  await t.test('a tenant finds, rotates and revokes no key of another, and leaves no trace', async (t) => {
    const { id, key } = await keys.issue({ ...acme, scopes: [] })
    const owned = await keys.issue({ tenantId: 42, scopes: [] })
    const before = await rows()
    const strangers = [globex, { tenantSlug: 'ACME' }, { tenantSlug: 'acme ' }, { tenantId: 42 }, { tenantId: 'globex' }, { tenantSlug: '%' }]
    for (const tenant of strangers) {
      t.equal(await keys.find(tenant, id), null, JSON.stringify(tenant))
      t.equal(await keys.revoke(tenant, id), false)
      await t.rejects(keys.rotate(tenant, id), { code: 'not_found', field: 'id' })
    }
    for (const tenant of [acme, globex, { tenantId: 43 }]) {
      t.equal(await keys.find(tenant, owned.id), null, 'the slug of a tenant with an id finds none of its keys')
      t.equal(await keys.revoke(tenant, owned.id), false)
      await t.rejects(keys.rotate(tenant, owned.id), { code: 'not_found' })
    }
    t.strictSame(await rows(), before)
    t.match(await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key }), { id })
    t.match(await keys.find({ tenantId: '42' }, owned.id), { id: owned.id })
    t.equal(await keys.revoke({ tenantId: 42 }, owned.id), true)
  })

  await t.test('a call without a tenant is refused, and does nothing', async (t) => {
    const { id } = await keys.issue({ ...acme, scopes: [] })
    const before = await rows()
    for (const tenant of [undefined, null, id, 5, []]) {
      const error = { code: 'invalid_input', field: 'tenant', message: /^tenant: expected an object with tenantSlug or tenantId, got / }
      await t.rejects(keys.list(tenant as never), error)
      for (const call of [keys.find, keys.revoke, keys.rotate]) await t.rejects(async () => { await call(tenant as never, id) }, error)
    }
    for (const tenant of [{}, { tenantId: undefined }]) {
      for (const call of [keys.find, keys.revoke, keys.rotate]) await t.rejects(async () => { await call(tenant as never, id) }, { code: 'invalid_input', field: 'tenantSlug' })
    }
    for (const [tenant, field] of [[{ tenantSlug: '' }, 'tenantSlug'], [{ tenantId: null }, 'tenantId'], [{ tenant: 'acme' }, 'tenant']] as const) {
      await t.rejects(keys.revoke(tenant as never, id), { code: 'invalid_input', field })
    }
    t.strictSame(await rows(), before)
  })

  await t.test('a scope that no route has is refused, with the nearest name', async (t) => {
    const before = await rows()
    for (const [scope, nearest] of [['candidates:raed', 'candidates:read'], ['jobs:wrte', 'jobs:write'], ['Webhooks:Read', 'webhooks:read'], ['notes:write', 'jobs:write'], ['candidates:*', 'candidates:read']]) {
      await t.rejects(keys.issue({ ...acme, scopes: ['jobs:read', String(scope)] }), {
        code: 'invalid_input', field: 'scopes', message: `scopes: expected a scope of a route, such as ${nearest}, got "${scope}"`
      })
    }
    t.strictSame(await rows(), before)
    const vendor = apiKeys(pool, { ownScopes: ['notes:write', 'jobs:read'] })
    t.match(await vendor.issue({ ...acme, scopes: ['notes:write', 'candidates:read'] }), { scopes: ['notes:write', 'candidates:read'] })
    await t.rejects(vendor.issue({ ...acme, scopes: ['notes:wriet'] }), { message: /such as notes:write, got "notes:wriet"$/ })
    t.match(await keys.issue({ ...acme, scopes: apiScopes }), { scopes: apiScopes })
  })

  await t.test('a key with an outdated scope is rotated unchanged', async (t) => {
    const { id } = await apiKeys(pool, { ownScopes: ['old:scope'] }).issue({ ...acme, scopes: ['old:scope'] })
    t.match(await keys.rotate(acme, id), { scopes: ['old:scope'] })
  })

  await t.test('limits are stored, shown and given to requests', async (t) => {
    const limits = { allowedIps: ['203.0.113.0/24', '::1/128'], candidateFields: ['full_name', 'Größe, "x"'], jobFields: [] }
    const { id, key, ...issued } = await keys.issue({ ...acme, scopes: ['jobs:read'], ...limits })
    t.match(issued, limits)
    t.match(await keys.find(acme, id), limits)
    t.strictSame(await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key }), { id, scopes: ['jobs:read'], ...limits })
    const some = await keys.issue({ ...acme, scopes: [], jobFields: ['name'], allowedIps: null })
    t.strictSame(await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key: some.key }), { id: some.id, scopes: [], jobFields: ['name'] })
    const rotated = await keys.rotate(acme, id)
    t.match(rotated, limits)
    t.strictSame(await lookUp({ tenantSlug: 'acme', tenantId: 'acme', key: rotated.key }), { id: rotated.id, scopes: ['jobs:read'], ...limits })
  })
})

t.test('rotating a key', async (t) => {
  const { pool, lockWaited } = await startPostgresHost(t)
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

  t.test('is refused for a key that another rotation ended while this one waited for it', async (t) => {
    const old = await issue()
    const other = await pool.connect()
    await other.query('begin')
    await other.query('select from recruiting.api_keys where id = $1 for update', [old.id])
    const rejected = t.rejects(keys.rotate({ tenantSlug: 'acme' }, old.id, { overlapSeconds: 0 }), { code: 'not_found', field: 'id' })
    await lockWaited('rotate_key_v1')
    await other.query("update recruiting.api_keys set replaced_at = date_trunc('milliseconds', clock_timestamp()) where id = $1", [old.id])
    await other.query('commit')
    other.release()
    await rejected
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

t.test('keys of tenants with ids of their own', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)
  const named = apiKeys(pool, { tenantSlug: async (tenantId) => tenantId === '42' ? 'acme' : null })
  const lookUp = postgresKeyLookup(pool)

  t.test('belong to the id, under any slug', async (t) => {
    const { id, key, ...stored } = await named.issue({ tenantId: 42, scopes: [] })
    t.match(stored, { tenantSlug: 'acme', tenantId: '42' })
    t.match(await lookUp({ tenantSlug: 'renamed', tenantId: '42', key }), { id })
    for (const tenantId of ['acme', '43', '']) t.equal(await lookUp({ tenantSlug: 'acme', tenantId, key }), null, tenantId)
    const rotated = await keys.rotate({ tenantId: 42 }, id)
    t.match(rotated, { tenantSlug: 'acme', tenantId: '42' })
    t.match(await lookUp({ tenantSlug: 'acme', tenantId: '42', key: rotated.key }), { id: rotated.id })
  })

  t.test('are listed by the id', async (t) => {
    const tenantId = 'Ünïcode id'
    const { key: _, ...stored } = await named.issue({ tenantId, scopes: [] })
    t.strictSame(await keys.list({ tenantId }), [stored])
    t.equal(stored.tenantSlug, tenantId, 'which is the name of a tenant without a known slug')
    await t.rejects(keys.list({ tenantSlug: 'globex', tenantId } as never), { code: 'invalid_input', field: 'tenantId' })
    t.strictSame(await keys.list({ tenantSlug: 'globex' }), [], 'without the option tenantId, the slug is the id')
    t.strictSame(await keys.find({ tenantId }, stored.id), stored)
    await t.rejects(keys.list({} as never), { code: 'invalid_input', field: 'tenantSlug' })
    await t.rejects(keys.list({ tenantId: 1.5 }), { code: 'invalid_input', field: 'tenantId' })
  })
})

t.test('keys in a transaction of the host', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)
  const lookup = postgresKeyLookup(pool)
  const input = { tenantSlug: 'acme', scopes: ['jobs:read'] }
  const kept = await keys.issue(input)

  async function inTransaction (end: 'commit' | 'rollback') {
    const transaction = await pool.connect()
    await transaction.query('begin')
    const issued = await keys.issue(input, { transaction })
    const rotated = await keys.rotate({ tenantSlug: 'acme' }, issued.id, {}, { transaction })
    const revoked = await keys.revoke({ tenantSlug: 'acme' }, issued.id, { transaction })
    const seen = [(await keys.find({ tenantSlug: 'acme' }, issued.id, { transaction }))?.revokedAt !== null, (await keys.list({ tenantSlug: 'acme' }, { transaction })).length]
    t.equal(await keys.find({ tenantSlug: 'acme' }, issued.id), null, 'nobody else sees it yet')
    await transaction.query(end)
    transaction.release()
    return { issued, rotated, revoked, seen }
  }

  t.test('change nothing if it is rolled back', async (t) => {
    const { issued, rotated, revoked, seen } = await inTransaction('rollback')
    t.strictSame([revoked, ...seen], [true, true, 3])
    t.equal((await keys.list({ tenantSlug: 'acme' })).length, 1)
    for (const { key } of [issued, rotated]) t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), null)
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: kept.key }), { id: kept.id })
  })

  t.test('change everything if it commits', async (t) => {
    const { issued, rotated } = await inTransaction('commit')
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: issued.key }), null)
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: rotated.key }), { id: rotated.id })
  })

  t.test('are refused outside one', async (t) => {
    const client = await pool.connect()
    const calls: Array<(transaction: unknown) => Promise<unknown>> = [
      (transaction) => keys.issue(input, { transaction }),
      (transaction) => keys.list({ tenantSlug: 'acme' }, { transaction }),
      (transaction) => keys.rotate({ tenantSlug: 'acme' }, kept.id, {}, { transaction }),
      (transaction) => keys.revoke({ tenantSlug: 'acme' }, kept.id, { transaction }),
      (transaction) => keys.find({ tenantSlug: 'acme' }, kept.id, { transaction })
    ]
    const before = await keys.list({ tenantSlug: 'acme' })
    for (const call of calls) {
      for (const transaction of [null, client, pool, 'begin']) await t.rejects(call(transaction), { code: 'invalid_event', field: 'transaction' })
    }
    client.release()
    t.strictSame(await keys.list({ tenantSlug: 'acme' }), before)
  })
})
