import t from 'tap'
import { generateApiKey, hashApiKey } from '../../../src/index.js'
import { type PgPool, apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

t.test('looking up keys', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  await migrate(pool)
  const keys = apiKeys(pool)

  let connections = 0
  const counting: PgPool = {
    query: (text, values) => pool.query(text, values),
    connect () {
      connections++
      return pool.connect()
    }
  }
  const lookup = postgresKeyLookup(counting)

  async function importKey (key: string): Promise<void> {
    const text = "insert into recruiting.api_keys (id, digest, tenant, tenant_slug, scopes, created_at) values ($1, $2, 'acme', 'acme', '{jobs:read}', now())"
    await pool.query(text, [`imported ${key}`, hashApiKey(key)])
  }

  t.test('a key with a wrong checksum is refused without a query', async (t) => {
    const { key } = await keys.issue({ tenantSlug: 'acme', scopes: [] })
    connections = 0
    for (let at = 3; at < key.length; at++) {
      const other = key.charAt(at) === 'a' ? 'b' : 'a'
      t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: key.slice(0, at) + other + key.slice(at + 1) }), null)
    }
    t.equal(connections, 0)
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: generateApiKey() }), null)
    t.equal(connections, 1, 'an unknown key with a checksum that fits takes one query')
  })

  t.test('a key of any other form is looked up by its digest', async (t) => {
    for (const key of ['sk_live_imported', `rk_${'x'.repeat(48)}`, `rk_${'x'.repeat(50)}`, 'a.b.c', `RK_${'x'.repeat(48)}`]) {
      await importKey(key)
      t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), { scopes: ['jobs:read'] }, key)
    }
    t.match(await keys.find({ tenantSlug: 'acme' }, 'imported a.b.c'), { start: null, name: null, createdBy: null })
    t.match((await keys.rotate({ tenantSlug: 'acme' }, 'imported a.b.c')).start, /^\w{4}$/)
  })

  t.test('only the prefix of the lookup has checksums', async (t) => {
    const other = `vendor_${'x'.repeat(49)}`
    await importKey(other)
    connections = 0
    t.equal(await postgresKeyLookup(counting, { prefix: 'vendor' })({ tenantSlug: 'acme', tenantId: 'acme', key: other }), null)
    t.equal(connections, 0)
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: other }), { scopes: ['jobs:read'] })
  })

  t.test('two lookups at once, of two tenants, each find their own', async (t) => {
    const acme = await keys.issue({ tenantSlug: 'acme', scopes: ['candidates:read'] })
    const globex = await keys.issue({ tenantSlug: 'globex', scopes: ['webhooks:read'] })
    const credentials = [['acme', acme], ['globex', globex], ['globex', acme], ['acme', globex]] as const
    const found = await Promise.all(credentials.map(([tenantSlug, { key }]) => lookup({ tenantSlug, tenantId: tenantSlug, key })))
    t.strictSame(found, [{ id: acme.id, scopes: ['candidates:read'] }, { id: globex.id, scopes: ['webhooks:read'] }, null, null])
  })

  t.test('a lookup that takes longer than queryTimeoutMs is given up', async (t) => {
    const { key } = await keys.issue({ tenantSlug: 'acme', scopes: ['jobs:read'] })
    const hurried = postgresKeyLookup(pool, { queryTimeoutMs: 1000 })
    const client = await pool.connect()
    await client.query('begin; lock table recruiting.api_keys')
    await t.rejects(hurried({ tenantSlug: 'acme', tenantId: 'acme', key }), {
      code: 'storage_timeout', message: 'PostgreSQL did not answer within 1000 ms: look up key'
    })
    await client.query('rollback')
    client.release()
    t.match(await hurried({ tenantSlug: 'acme', tenantId: 'acme', key }), { scopes: ['jobs:read'] })
  })
})
