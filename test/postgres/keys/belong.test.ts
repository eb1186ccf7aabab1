import t from 'tap'
import { apiScopes } from '../../../src/index.js'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

t.test('keys belong to a tenant', async (t) => {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const keys = apiKeys(pool)
  const lookUp = postgresKeyLookup(pool)
  const acme = { tenantSlug: 'acme' }
  const globex = { tenantSlug: 'globex' }
  const rows = async (): Promise<unknown[]> => (await pool.query('select * from recruiting.api_keys order by id')).rows

  await t.test('a tenant finds, rotates and revokes no key of another, and leaves no trace', async (t) => {
    const { id, key } = await keys.issue({ ...acme, scopes: [] })
    const owned = await keys.issue({ tenantSlug: 'acme', tenantId: 42, scopes: [] })
    const before = await rows()
    const strangers = [globex, { tenantSlug: 'ACME' }, { tenantSlug: 'acme ' }, { tenantId: 42 }, { tenantId: 'globex' }, { tenantSlug: 'acme', tenantId: 'globex' }, { tenantSlug: '%' }]
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

  await t.test('in a transaction too', async (t) => {
    const { id } = await keys.issue({ ...acme, scopes: [] })
    const client = await pool.connect()
    await client.query('begin')
    const options = { transaction: client }
    t.equal(await keys.find(globex, id, options), null)
    t.equal(await keys.revoke(globex, id, options), false)
    await t.rejects(keys.rotate(globex, id, {}, options), { code: 'not_found' })
    t.match(await keys.find(acme, id, options), { id, revokedAt: null })
    await client.query('commit')
    client.release()
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

  await t.test('a key with a scope from before is rotated as it is', async (t) => {
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

  await t.test('a network that is none is refused by its place', async (t) => {
    for (const [cidr, shown] of [['203.0.113.7', '"203.0.113.7"'], ['10.0.0.0/33', '"10.0.0.0/33"'], ['example.com/8', '"example.com/8"'], ['', '""'], [5, '5'], [null, 'null']]) {
      await t.rejects(keys.issue({ ...acme, scopes: [], allowedIps: ['10.0.0.0/8', cidr as string] }), {
        code: 'invalid_input', field: 'allowedIps[1]', message: `allowedIps[1]: expected a CIDR such as 203.0.113.0/24 or 203.0.113.7/32, got ${shown}`
      })
    }
  })
})
