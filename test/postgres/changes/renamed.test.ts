import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { withClient } from '../../fixtures/postgres/changes.js'
import { startSyncedPeople } from '../../fixtures/sync/synced-people.js'

t.test('rows updated in the transaction that renames their tenant: copies of both names are exact', async (t) => {
  const { pool, serve, follow, watchPeople, copyOf, itemsOf } = await startSyncedPeople(t)
  await watchPeople()
  await serve()
  await follow('acme')
  await follow('globex')
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  t.teardown(() => recruiting.close())
  await withClient(pool, async (client) => {
    await client.query("begin; update crm.people set company = 'globex'")
    await recruiting.renameTenant('acme', 'globex', { transaction: client })
    await client.query('commit')
  })
  for (const tenantSlug of ['acme', 'globex']) {
    t.equal(await follow(tenantSlug), 200)
    t.strictSame(copyOf(tenantSlug), await itemsOf(tenantSlug), tenantSlug)
  }
  t.equal(Object.keys(copyOf('globex')).length, 3)
})

t.test('a removed tenant\'s token expires, also after the name was taken again', async (t) => {
  const { pool, serve, follow, watchPeople, copyOf, itemsOf, restarts } = await startSyncedPeople(t)
  await watchPeople()
  await serve()
  await follow()
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  t.teardown(() => recruiting.close())
  await pool.query('delete from crm.people')
  await recruiting.removeTenant('acme')
  await pool.query("insert into crm.people values (9, 'acme', 'Another customer')")
  await follow()
  t.strictSame([copyOf(), restarts()], [await itemsOf(), 1])
})
