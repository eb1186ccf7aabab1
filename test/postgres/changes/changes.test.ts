import type pg from 'pg'
import t from 'tap'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'

t.test('the order of changes', async (t) => {
  const { pool, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)

  t.test('a transaction that records no change hides nothing', async (t) => {
    await withClient(pool, async (writer) => {
      await writer.query('begin isolation level repeatable read; select pg_current_xact_id()')
      const start = await changes.begin('acme', 'candidate')
      await record('1')
      t.strictSame((await follow(changes, start)).ids, ['1'])
    })
  })

  t.test("the row records whether a transaction's last change was a deletion", async (t) => {
    await withClient(pool, async (client) => {
      await client.query('begin')
      for (const deleted of [false, true, true, false, true]) await changes.record('acme', { kind: 'job', id: '7', deleted }, client)
      await client.query('commit')
    })
    await compact(changes)
    t.strictSame((await pool.query('select kind, id, deleted from recruiting.changes')).rows, [{ kind: 'job', id: '7', deleted: true }])
  })

  t.test('each pruning advances a quiet tenant\'s position', async (t) => {
    const start = await changes.begin('quiet', 'candidate')
    await record('1')
    await compact(changes)
    const quiet = await follow(changes, start, { tenantSlug: 'quiet' })
    t.not(quiet.position, start)
    await changes.prune({ retentionDays: 0, limit: 10 })
    t.equal(await changes.list('quiet', 'candidate', { after: start, limit: 1 }), null)
    t.strictSame((await follow(changes, quiet.position, { tenantSlug: 'quiet' })).ids, [])
  })

  t.test('ids and tenants of any length and script keep positions within 200 characters', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    const ids = ['~'.repeat(64), '!'.repeat(64), '.', '0.0', "'\"\\"]
    const tenantSlug = 'ß.'.repeat(50)
    await withClient(pool, async (client) => {
      await client.query('begin')
      for (const id of ids) await changes.record(tenantSlug, { kind: 'candidate', id, deleted: false }, client)
      await client.query('commit')
    })
    const page = await changes.list(tenantSlug, 'candidate', { after: start, limit: 4 })
    t.ok(page !== null && page.position.length <= 200)
    t.strictSame((await follow(changes, start, { tenantSlug, limit: 1 })).ids, ids)
  })
})

t.test('a position', async (t) => {
  const { pool, storage: { changes } } = await startPostgresHost(t)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const list = (after: string) => changes.list('acme', 'candidate', { after, limit: 10 })

  t.test('of a restored database is unknown', async (t) => {
    const position = await changes.begin('acme', 'candidate')
    await pool.query('update recruiting.change_state set id = gen_random_uuid()')
    t.equal(await list(position), null)
    t.not(await list(await changes.begin('acme', 'candidate')), null)
  })

  t.test('of a copy made with create database is unknown', async (t) => {
    const { server, pool: original, storage } = await startPostgresHost(t)
    const position = await storage.changes.begin('acme', 'candidate')
    const { rows: [{ name }] } = await original.query('select current_database() as name')
    await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    await pool.query(`create database copied template ${name}`)
    const copy = server.createPool({ database: 'copied' })
    t.equal(await postgresStorage(copy).changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
    t.not(await storage.changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
  })

  t.test('that is malformed or beyond the last change is unknown', async (t) => {
    const [seq, epoch] = (await changes.begin('acme', 'candidate')).split('.')
    for (const beyond of [Number(seq) + 1000, '9'.repeat(18)]) t.equal(await list(`${beyond}.${epoch}`), null)
    const texts = ['', '.', '..', `-1.${epoch}`, `${seq}`, `${seq}.a\0`, `${seq}..${epoch}`, `${seq}.${epoch?.toUpperCase()}x`, `${'9'.repeat(19)}.${epoch}`]
    for (const text of texts) t.equal(await list(text), null, text)
  })

  t.test('stays unknown when an earlier change is pruned later', async (t) => {
    await changes.prune({ retentionDays: 0, limit: 10 })
    await record('old')
    const start = await changes.begin('acme', 'candidate')
    await record('young')
    await compact(changes)
    await pool.query("update recruiting.changes set changed_at = now() - interval '3 days' where id = 'young'")
    t.equal(await changes.prune({ retentionDays: 2, limit: 10 }), 1)
    t.equal(await changes.prune({ retentionDays: 0, limit: 10 }), 1)
    t.equal(await list(start), null)
  })
})

t.test('recording a change', async (t) => {
  const { pool, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  async function rowCount (): Promise<number> {
    await compact(changes)
    return (await pool.query('select from recruiting.changes')).rows.length
  }

  /** Begins a transaction that fails instead of waiting for a lock. */
  async function beginImpatient (client: pg.PoolClient, level = 'read committed'): Promise<void> {
    await client.query(`begin isolation level ${level}; set local lock_timeout to '1ms'`)
  }

  for (const level of ['read committed', 'repeatable read', 'serializable']) {
    t.test(`never waits at ${level}: two transactions record the same candidates in opposite order`, async (t) => {
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

    t.test(
      `never fails at ${level}, even after changes were recorded, pruned and deleted since the transaction's snapshot`,
      async (t) => {
        await record('1')
        await withClient(pool, async (client) => {
          await client.query(
            `begin isolation level ${level}; select from recruiting.changes, recruiting.recent_changes`
          )
          await record('1')
          await record('1', client)
          await changes.prune({ retentionDays: 0, limit: 10 })
          await record('1')
          await record('1', client)
          await client.query('commit')
        })
        t.equal(await rowCount(), 1)
      }
    )
  }

  t.test('does not wait for a rename or removal of the tenant, or for locked rows', async (t) => {
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

  t.test('pruning skips locked rows without waiting', async (t) => {
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

t.test('the SQL function changed', async (t) => {
  const { pool, server, storage: { changes } } = await startPostgresHost(t, { schema: 'our "api"' })
  const call = (list: string) => pool.query(`select "our ""api""".changed(${list})`)

  t.test('records a change in the transaction that calls it', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await withClient(pool, async (client) => {
      await client.query("begin; select \"our \"\"api\"\"\".changed('acme', 'candidate', '42'), \"our \"\"api\"\"\".changed('acme', 'job', '7', true)")
      t.strictSame((await follow(changes, start)).ids, [])
      await client.query('commit')
    })
    t.strictSame((await follow(changes, start)).ids, ['42'])
    t.strictSame((await follow(changes, start, { kind: 'job' })).ids, ['7'])
  })

  t.test('takes its arguments by name', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await call("kind => 'candidate', id => id, tenant_slug => slug) from (values ('acme', '1'), ('acme', '2')) as people (slug, id")
    t.strictSame((await follow(changes, start)).ids, ['1', '2'])
  })

  t.test('needs only usage on the schema and insert on recent_changes', async (t) => {
    await pool.query('create role caller login')
    const caller = server.createPool({ user: 'caller' })
    const text = 'select "our ""api""".changed(\'acme\', \'candidate\', \'1\')'
    await t.rejects(caller.query(text), { message: 'permission denied for schema our "api"' })
    await pool.query('grant usage on schema "our ""api""" to caller')
    await t.rejects(caller.query(text), { message: 'permission denied for table recent_changes' })
    await pool.query('grant insert on "our ""api""".recent_changes to caller')
    const start = await changes.begin('acme', 'candidate')
    await caller.query(text)
    await withClient(caller, async (client) => {
      await client.query('begin')
      await postgresStorage(caller, { schema: 'our "api"' }).changes.record('acme', { kind: 'candidate', id: '2', deleted: false }, client)
      await client.query('commit')
    })
    t.strictSame((await follow(changes, start)).ids, ['1', '2'])
  })

  t.test('names the invalid argument', async (t) => {
    const id = 'id: expected 1 to 64 visible ASCII characters without /'
    const tenant = 'tenant_slug: expected 1 to 200 characters without control characters'
    const kind = 'kind: expected candidate, job or the kind of an own list: 1 to 32 of a-z, 0-9 and _'
    const rejected: Array<[list: string, problem: string]> = [
      ["null, 'candidate', '1'", `${tenant}, got NULL`],
      ["'', 'candidate', '1'", `${tenant}, got ''`],
      ["E'a\\nb', 'candidate', '1'", `${tenant}, got 'a\nb'`],
      ["repeat('ß', 201), 'candidate', '1'", `${tenant}, got '${'ß'.repeat(120)}'`],
      ["'acme', null, '1'", `${kind}, got NULL`],
      ["'acme', 'candidates', '1'", `${kind}, got 'candidates'`],
      ["'acme', 'Person', '1'", `${kind}, got 'Person'`],
      ["'acme', 'job', null", `${id}, got NULL`],
      ["'acme', 'job', ''", `${id}, got ''`],
      ["'acme', 'job', 'a/b'", `${id}, got 'a/b'`],
      ["'acme', 'job', 'ß'", `${id}, got 'ß'`],
      ["'acme', 'job', repeat('x', 65)", `${id}, got '${'x'.repeat(65)}'`],
      ["'acme', 'job', repeat('x', 1000)", `${id}, got '${'x'.repeat(120)}'`],
      ["'acme', 'job', '1', null", 'deleted: expected true or false, got NULL']
    ]
    for (const [list, problem] of rejected) {
      await t.rejects(call(list), { code: '22023', message: `changed: ${problem}` }, list)
    }
    await t.resolves(call("repeat('ß', 100), 'job', repeat('~', 64)"))
  })
})

t.test('readers are held back', async (t) => {
  const { pool, server, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const nobody = { heldBackMs: 0, heldBackBy: null }

  t.test('by a transaction that recorded a change, and its owner is named once a later change is hidden', async (t) => {
    await withClient(pool, async (client) => {
      await client.query("set application_name to 'night import'; begin")
      await record('0', client)
      const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid')
      t.strictSame(await changes.stats(), nobody)
      await record('1')
      const { heldBackMs, heldBackBy } = await changes.stats()
      t.equal(heldBackBy, `pid ${pid}, user postgres, application night import`)
      const { rows: [{ ms }] } = await pool.query(
        'select 1000 * extract(epoch from clock_timestamp() - xact_start)::float as ms from pg_stat_activity where pid = $1', [pid])
      t.ok(Number.isInteger(heldBackMs) && heldBackMs <= ms && heldBackMs > 0, `${heldBackMs} of ${ms} ms`)
      await client.query('commit; reset application_name')
      t.strictSame(await changes.stats(), nobody)
    })
  })

  t.test('by a transaction that the database user cannot see, for as long as the first change is hidden', async (t) => {
    await pool.query('create role app login; grant usage on schema recruiting to app; grant select on all tables in schema recruiting to app')
    const own = postgresStorage(server.createPool({ user: 'app' }))
    await withClient(pool, async (client) => {
      await client.query('begin')
      await record('0', client)
      t.strictSame(await own.changes.stats(), nobody)
      await record('1')
      await pool.query("update recruiting.recent_changes set changed_at = now() - interval '1 hour'")
      const { heldBackMs, heldBackBy } = await own.changes.stats()
      t.match(heldBackBy, /^pid \d+, user postgres, application /)
      t.ok(heldBackMs >= 3_600_000)
    })
  })
})
