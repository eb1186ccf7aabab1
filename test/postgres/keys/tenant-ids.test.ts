import t from 'tap'
import { apiKeys, migrate, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'

t.test('keys of tenants with ids of their own', async (t) => {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const keys = apiKeys(pool)
  const lookUp = postgresKeyLookup(pool)

  t.test('belong to the id, whatever the slug is', async (t) => {
    const { id, key, ...stored } = await keys.issue({ tenantSlug: 'acme', tenantId: 42, scopes: [] })
    t.match(stored, { tenantSlug: 'acme', tenantId: '42' })
    t.match(await lookUp({ tenantSlug: 'renamed', tenantId: '42', key }), { id })
    for (const tenantId of ['acme', '43', '']) t.equal(await lookUp({ tenantSlug: 'acme', tenantId, key }), null, tenantId)
    const rotated = await keys.rotate({ tenantId: 42 }, id)
    t.match(rotated, { tenantSlug: 'acme', tenantId: '42' })
    t.match(await lookUp({ tenantSlug: 'acme', tenantId: '42', key: rotated.key }), { id: rotated.id })
  })

  t.test('are listed by the id', async (t) => {
    const tenantId = 'Ünïcode id'
    const { key: _, ...stored } = await keys.issue({ tenantSlug: 'globex', tenantId, scopes: [] })
    t.strictSame(await keys.list({ tenantId }), [stored])
    t.strictSame(await keys.list({ tenantSlug: 'globex', tenantId }), [stored])
    t.strictSame(await keys.list({ tenantSlug: 'globex' }), [], 'without the option tenantId, the slug is the id')
    t.strictSame(await keys.find({ tenantId }, stored.id), stored)
    await t.rejects(keys.list({} as never), { code: 'invalid_input', field: 'tenantSlug' })
    await t.rejects(keys.list({ tenantId: 1.5 }), { code: 'invalid_input', field: 'tenantId' })
  })
})
