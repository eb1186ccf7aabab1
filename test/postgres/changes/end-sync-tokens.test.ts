import t from 'tap'
import { endSyncTokens } from '../../../src/postgres/index.js'
import { withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startSyncedPeople } from '../../fixtures/sync/synced-people.js'

t.test('after rows were written past the triggers, ended tokens make copies exact', async (t) => {
  const { pool, serve, follow, watchPeople, copyOf, itemsOf, restarts } = await startSyncedPeople(t)
  await watchPeople()
  await serve()
  await follow()
  for (const [count, end] of [() => endSyncTokens(pool), () => pool.query('select recruiting.end_sync_tokens()')].entries()) {
    await withClient(pool, (client) => client.query('begin; set local session_replication_role = replica; delete from crm.people where id = (select min(id) from crm.people); commit'))
    await follow()
    t.notSame(copyOf(), await itemsOf(), 'nobody can see it')
    await end()
    await follow()
    t.strictSame([copyOf(), restarts()], [await itemsOf(), count + 1])
  }
  await t.rejects(endSyncTokens(pool, { schema: '' }), { code: 'invalid_option', field: 'schema' })
  await t.rejects(endSyncTokens(pool, { table: 'x' } as object), { code: 'invalid_option', field: 'table' })
  await t.rejects(endSyncTokens({} as typeof pool), { code: 'invalid_option', field: 'pool' })
})

t.test('ending tokens waits for a process that prunes, also where transactions are serializable by default', async (t) => {
  const { pool, server, lockWaited } = await startPostgresHost(t)
  const serializable = server.createPool({ options: '-c default_transaction_isolation=serializable' })
  const readId = async () => (await pool.query('select id from recruiting.change_state')).rows[0].id
  const before = await readId()
  await withClient(pool, async (client) => {
    await client.query('begin; update recruiting.change_state set reached = pg_current_xact_id()')
    const ending = endSyncTokens(serializable)
    await Promise.race([lockWaited('end_sync_tokens'), ending])
    await client.query('commit')
    await ending
  })
  t.not(await readId(), before)
})
