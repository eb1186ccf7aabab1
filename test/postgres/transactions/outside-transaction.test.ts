import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import type { PgPool, PgQueryable } from '../../../src/postgres/index.js'
import { findTool } from '../../fixtures/programs.js'
import { type PostgresTables, createTables, startPostgresHost } from '../../fixtures/postgres/postgres.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const subject = { tenantSlug: 'acme', subject: 'candidate:1' }
const refusal = {
  name: 'RecruitingApiError',
  code: 'invalid_event',
  field: 'transaction',
  message: 'transaction: expected a client inside a transaction, got one in autocommit mode'
}

/** The data of all events at the beginning, and once another was emitted and the subject of the first erased. */
const untouched = [{ id: 1 }]
const written = [null, { id: 2 }]

function createHost (t: Test, pool: PgPool, { storage, schema, clear }: PostgresTables) {
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())

  return {
    async begin () {
      await clear()
      await recruiting.emit({ ...event, ...subject })
    },
    async readEvents () {
      const { rows } = await pool.query(`select body::text from ${schema}.events order by seq`)
      return (rows as Array<{ body: string }>).map(({ body }) => JSON.parse(body).data)
    },
    async assertTaken (t: Test, transaction: unknown) {
      t.match(await recruiting.emit({ ...event, data: { id: 2 } }, { transaction }), { deliveries: 0 })
      t.equal(await recruiting.erase(subject, { transaction }), 1)
    },
    async assertRefused (t: Test, transaction: unknown) {
      await t.rejects(recruiting.emit({ ...event, data: { id: 2 } }, { transaction }), refusal)
      await t.rejects(recruiting.erase(subject, { transaction }), refusal)
    },
    emit: (transaction: unknown) => recruiting.emit(event, { transaction })
  }
}

t.test('handles of a server', async (t) => {
  const { server, pool, ...tables } = await startPostgresHost(t)
  const { begin, readEvents, assertTaken, assertRefused, emit } = createHost(t, pool, tables)
  await pool.query('create table applications (id int)')
  const insert = 'insert into applications values (1)'
  t.beforeEach(begin)

  async function withClient (work: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
    const client = await pool.connect()
    await work(client).finally(() => client.release(true))
  }

  t.test('a pool is refused, of one connection too', async (t) => {
    for (const max of [1, 5]) await assertRefused(t, server.createPool({ max }))
    t.strictSame(await readEvents(), untouched)
  })

  t.test('a client outside of a transaction is refused: before one, after its commit and after its rollback', async (t) => {
    await withClient(async (client) => {
      await assertRefused(t, client)
      for (const end of ['commit', 'rollback']) {
        await client.query(`begin; ${insert}`)
        await client.query(end)
        await assertRefused(t, client)
      }
    })
    t.strictSame(await readEvents(), untouched)
  })

  for (const before of ['', 'select 1', insert, 'savepoint before', 'set local lock_timeout = 100', `savepoint before; ${insert}; rollback to before`]) {
    t.test(`a client inside a transaction is accepted, after ${before === '' ? 'nothing else' : before}`, async (t) => {
      await withClient(async (client) => {
        await client.query('begin')
        await client.query(before)
        await assertTaken(t, client)
        await client.query('rollback')
        t.strictSame(await readEvents(), untouched)
        await client.query(`begin; ${before}`)
        await assertTaken(t, client)
        await client.query('commit')
        t.strictSame(await readEvents(), written)
      })
    })
  }

  t.test('an emit takes one statement in a transaction that has written before, and two in one that has not', async (t) => {
    await withClient(async (client) => {
      let count = 0
      const counting: PgQueryable = {
        query (text, values) {
          count++
          return client.query(text, values)
        }
      }
      await client.query(`begin; ${insert}`)
      await emit(counting)
      t.equal(count, 1)
      await client.query('rollback; begin')
      await emit(counting)
      t.equal(count, 3)
      await emit(counting)
      t.equal(count, 4)
    })
  })

  t.test('a transaction that has failed rejects with its own error, and records nothing', async (t) => {
    await withClient(async (client) => {
      await client.query('begin')
      await t.rejects(client.query('select nonsense'))
      await t.rejects(emit(client), { code: '25P02' })
    })
    t.strictSame(await readEvents(), untouched)
  })

  t.test('a transaction of Kysely is accepted, and its database is refused', async (t) => {
    const db = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool: server.createPool() }) })
    const handleOf = (executor: Kysely<Record<string, never>>) => ({
      query: (text: string, values: unknown[]) => executor.executeQuery(CompiledQuery.raw(text, values))
    })
    await assertRefused(t, handleOf(db))
    await db.connection().execute((connection) => assertRefused(t, handleOf(connection)))
    t.strictSame(await readEvents(), untouched)
    await db.transaction().execute((transaction) => assertTaken(t, handleOf(transaction)))
    t.strictSame(await readEvents(), written)
  })
})

t.test('a transaction of PGlite is accepted, and its database is refused', { skip: findTool('@electric-sql/pglite') }, async (t) => {
  const { PGlite } = await import('@electric-sql/pglite')
  const db = new PGlite()
  t.teardown(() => db.close())
  const query: PgQueryable['query'] = async (text, values) =>
    // Migrations are several statements at once.
    values === undefined ? { rows: (await db.exec(text)).flatMap(({ rows }) => rows) } : db.query(text, values)
  const pool: PgPool = { query, connect: async () => ({ query, release () {} }) }
  const { begin, readEvents, assertTaken, assertRefused } = createHost(t, pool, await createTables(pool))
  // Its clock tells milliseconds, in which a transaction may begin and emit.
  for (let count = 0; count < 5; count++) {
    await begin()
    await assertRefused(t, db)
    t.strictSame(await readEvents(), untouched)
    await db.transaction((transaction) => assertTaken(t, transaction))
    t.strictSame(await readEvents(), written)
  }
})
