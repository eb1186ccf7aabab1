import t from 'tap'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('every table has a primary key', async (t) => {
  const { pool } = await startPostgresHost(t)
  const { rows } = await pool.query(`
    select c.relname from pg_class c
    where c.relnamespace = 'recruiting'::regnamespace and c.relkind in ('r', 'p')
      and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`)
  t.same(rows, [])
})

t.test('a claim writes nothing if nothing is due', async (t) => {
  const { pool } = await startPostgresHost(t)
  const client = await pool.connect()
  t.teardown(() => client.release())
  let xid: string | null = 'none'
  // On a busy machine a slow claim may mark webhooks.
  for (let tries = 0; tries < 20 && xid !== null; tries++) {
    await client.query('begin')
    t.same((await client.query('select * from recruiting.claim_v1(10, 10, 60000, null)')).rows, [])
    xid = (await client.query('select pg_current_xact_id_if_assigned()::text as xid')).rows[0].xid
    await client.query('rollback')
  }
  t.equal(xid, null)
})
