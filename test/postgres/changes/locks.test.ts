import type pg from 'pg'
import t from 'tap'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'

t.test('recording a change', async (t) => {
  const { pool, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  async function rowCount (): Promise<number> {
    await compact(changes)
    return (await pool.query('select from recruiting.changes')).rows.length
  }

  /** A connection in a transaction in which any wait for a lock is an error. */
  async function beginImpatient (client: pg.PoolClient, level = 'read committed'): Promise<void> {
    await client.query(`begin isolation level ${level}; set local lock_timeout to '1ms'`)
  }

  for (const level of ['read uncommitted', 'read committed', 'repeatable read', 'serializable']) {
    t.test(`waits for nobody at ${level}: two transactions record the same candidates in opposite order`, async (t) => {
      const ids = ['1', '2', '3']
      for (const id of ids) await record(id)
      const start = await changes.begin('acme', 'candidate')
      await withClient(pool, (first) => withClient(pool, async (second) => {
        for (const client of [first, second]) await beginImpatient(client, level)
        for (const id of ids) {
          await record(id, first)
          await record(ids.toReversed()[ids.indexOf(id)] ?? '', second)
        }
        await first.query('commit')
        await second.query('commit')
      }))
      t.strictSame([...new Set((await follow(changes, start)).ids)].toSorted(), ids)
      t.equal(await rowCount(), ids.length)
    })

    t.test(`never fails at ${level}, whatever was recorded, pruned or deleted since the transaction's snapshot`, async (t) => {
      await record('1')
      await withClient(pool, async (client) => {
        await client.query(`begin isolation level ${level}; select from recruiting.changes, recruiting.recent_changes`)
        await record('1')
        await record('1', client)
        await changes.prune({ retentionDays: 0, limit: 10 })
        await record('1')
        await record('1', client)
        await client.query('commit')
      })
      t.equal(await rowCount(), 1)
    })
  }

  t.test('waits for nobody who renames or removes the tenant, or holds rows locked', async (t) => {
    for (const table of ['recruiting.recent_changes', 'recruiting.changes']) {
      for (const statement of [`update ${table} set tenant = tenant`, `delete from ${table}`, `select from ${table} for update`]) {
        await record('1')
        await compact(changes)
        await record('1')
        await withClient(pool, (holder) => withClient(pool, async (client) => {
          await holder.query('begin')
          await holder.query(statement)
          await beginImpatient(client)
          await t.resolves(record('1', client), statement)
          await client.query('commit')
        }))
      }
    }
  })

  t.test('serializable transactions fail no more often with changes than without', async (t) => {
    await pool.query('create table accounts (id int primary key, balance int); insert into accounts select n, 0 from generate_series(1, 20) as n')
    await withClient(pool, (first) => withClient(pool, async (second) => {
      for (const [client, id] of [[first, 1], [second, 2]] as const) {
        await client.query(`begin isolation level serializable; update accounts set balance = 1 where id = ${id}`)
        await record('1', client)
      }
      await first.query('commit')
      await second.query('commit')
    }))
    t.equal((await pool.query('select from recruiting.recent_changes')).rows.length, 2)
  })

  t.test('pruning skips what a transaction has locked, and does not wait', async (t) => {
    await record('1')
    await record('2')
    await withClient(pool, async (holder) => {
      await holder.query("begin; select from recruiting.recent_changes where id = '1' for update")
      t.equal(await rowCount(), 1)
    })
    t.equal(await rowCount(), 2)
    await withClient(pool, async (holder) => {
      await holder.query("begin; select from recruiting.changes where id = '1' for update")
      t.equal(await changes.prune({ retentionDays: 0, limit: 10 }), 1)
    })
    t.equal(await changes.prune({ retentionDays: 0, limit: 10 }), 1)
  })
})
