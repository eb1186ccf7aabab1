import pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../../src/index.js'
import { type PgPool, type PgQueryable, postgresStorage } from '../../../../src/postgres/index.js'
import { createTables, type PostgresTables } from '../../../fixtures/postgres/postgres.js'
import { findTool } from '../../../fixtures/programs.js'

const application = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

// Nothing connects: what is refused is refused before a statement.
const pool = new pg.Pool({ port: 1 })
const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
t.teardown(() => recruiting.close())

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
      // Waits for the engine's own transactions: PGlite has one connection for all of them.
      await recruiting.stats()
      await recruiting.emit({ ...application, ...subject })
    },
    async readEvents () {
      const { rows } = await pool.query(`select body::text from ${schema}.events order by seq`)
      return (rows as Array<{ body: string }>).map(({ body }) => JSON.parse(body).data)
    },
    async assertTaken (t: Test, transaction: unknown) {
      t.match(await recruiting.emit({ ...application, data: { id: 2 } }, { transaction }), { deliveries: 0 })
      t.equal(await recruiting.erase(subject, { transaction }), 1)
    },
    async assertRefused (t: Test, transaction: unknown) {
      await t.rejects(recruiting.emit({ ...application, data: { id: 2 } }, { transaction }), refusal)
      await t.rejects(recruiting.erase(subject, { transaction }), refusal)
    },
    emit: (transaction: unknown) => recruiting.emit(application, { transaction })
  }
}

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
