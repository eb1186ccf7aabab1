import t from 'tap'
import { hashApiKey, isApiKey } from '../../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

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

  t.test('a key is issued with everything that is known of it, and shown without the key from then on', async (t) => {
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

  t.test('a key is found until it expires', async (t) => {
    const later = await issue({ expiresAt: new Date(Date.now() + 3_600_000) })
    const past = await issue({ expiresAt: new Date(Date.now() - 3_600_000) })
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: later.key }), { id: later.id })
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: past.key }), null)
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
