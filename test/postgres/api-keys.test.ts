import t from 'tap'
import { hashApiKey } from '../../src/index.js'
import { issueApiKey, migrate, postgresKeyLookup, revokeApiKey } from '../../src/postgres/index.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('API keys', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  const schema = 'keys'
  await migrate(pool, { schema })
  const lookup = postgresKeyLookup(pool, { schema })
  const issue = (options: object = {}) => issueApiKey(pool, { schema, tenantSlug: 'acme', scopes: ['jobs:read'], ...options })

  t.test('an issued key is found only for its tenant', async (t) => {
    const { id, key } = await issue({ scopes: ['webhooks:write', 'jobs:read'] })
    t.match(key, /^rk_[\w-]{43}$/)
    t.strictSame(await lookup({ tenantSlug: 'acme', key }), { id, scopes: ['webhooks:write', 'jobs:read'] })
    for (const tenantSlug of ['globex', 'ACME', 'acme ', '']) t.equal(await lookup({ tenantSlug, key }), null, tenantSlug)
    t.equal(await lookup({ tenantSlug: 'acme', key: hashApiKey(key) }), null)
    t.equal(await lookup({ tenantSlug: 'acme', key: key.slice(0, -1) }), null)
  })

  t.test('only its digest is kept', async (t) => {
    const { id, key } = await issue()
    const { rows: [row] } = await pool.query('select k::text as all_of_it from keys.api_keys k where id = $1', [id])
    t.notMatch(row.all_of_it, key.slice(3))
    t.match(row.all_of_it, hashApiKey(key))
  })

  t.test('a revoked key is not found from then on', async (t) => {
    const { id, key } = await issue()
    t.equal(await revokeApiKey(pool, { schema, id }), true)
    t.equal(await lookup({ tenantSlug: 'acme', key }), null)
    t.equal(await revokeApiKey(pool, { schema, id }), false)
    t.equal(await revokeApiKey(pool, { schema, id: 'key_none' }), false)
  })

  t.test('a key is found until it expires', async (t) => {
    const later = await issue({ expiresAt: new Date(Date.now() + 3_600_000) })
    const past = await issue({ expiresAt: new Date(Date.now() - 3_600_000) })
    t.match(await lookup({ tenantSlug: 'acme', key: later.key }), { id: later.id })
    t.equal(await lookup({ tenantSlug: 'acme', key: past.key }), null)
  })

  t.test('invalid input for a key is refused', async (t) => {
    const { rows: before } = await pool.query('select from keys.api_keys')
    for (const tenantSlug of ['', 'x'.repeat(101), 'a\nb', '\ud800', 5]) await t.rejects(issue({ tenantSlug }), { code: 'invalid_option', field: 'tenantSlug' })
    for (const scopes of ['jobs:read', [''], ['a b'], [5], null]) await t.rejects(issue({ scopes }), { code: 'invalid_option', field: 'scopes' })
    for (const expiresAt of ['2026-01-01', new Date(Number.NaN)]) await t.rejects(issue({ expiresAt }), { code: 'invalid_option', field: 'expiresAt' })
    await t.rejects(issue({ schema: '' }), { code: 'invalid_option', field: 'schema' })
    const { rows: after } = await pool.query('select from keys.api_keys')
    t.equal(after.length, before.length)
  })

  t.test('a lookup that takes longer than queryTimeoutMs is given up', async (t) => {
    const { key } = await issue()
    const hurried = postgresKeyLookup(pool, { schema, queryTimeoutMs: 150 })
    const client = await pool.connect()
    await client.query('begin; lock table keys.api_keys')
    await t.rejects(hurried({ tenantSlug: 'acme', key }), {
      code: 'storage_timeout', message: 'PostgreSQL did not answer within 150 ms: look up key'
    })
    await client.query('rollback')
    client.release()
    t.match(await hurried({ tenantSlug: 'acme', key }), { scopes: ['jobs:read'] })
  })

  t.test('options of the lookup that cannot be are refused', async (t) => {
    t.throws(() => postgresKeyLookup(null as never), { code: 'invalid_option', field: 'pool' })
    t.throws(() => postgresKeyLookup(pool, { schema: '' }), { code: 'invalid_option', field: 'schema' })
    t.throws(() => postgresKeyLookup(pool, { queryTimeoutMs: 1 }), { code: 'invalid_option', field: 'queryTimeoutMs' })
  })
})
