import t, { } from 'tap'
import { createRecruiting } from '../../../../src/index.js'
import { type PgPool, type PgQueryable } from '../../../../src/storages/postgres/index.js'
import { createTables } from '../../../fixtures/postgres/postgres.js'
import { findTool } from '../../../fixtures/programs.js'

const application = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test('a PGlite transaction is accepted, and its database is rejected', { skip: findTool('@electric-sql/pglite') }, async (t) => {
  const { PGlite } = await import('@electric-sql/pglite')
  const db = new PGlite()
  t.teardown(() => db.close())
  const query: PgQueryable['query'] = async (text, values) =>
    // A migration contains several statements.
    values === undefined ? { rows: (await db.exec(text)).flatMap(({ rows }) => rows) } : db.query(text, values)
  const pool: PgPool = { query, connect: async () => ({ query, release () {} }) }
  const { storage, schema, clear } = await createTables(pool)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  const second = { ...application, data: { id: 2 } }
  const subject = { tenantSlug: 'acme', subject: 'candidate:1' }
  const rejection = {
    code: 'invalid_event',
    field: 'transaction',
    message: 'transaction: expected a client inside a transaction, got one in autocommit mode'
  }
  const readEvents = async () => {
    const { rows } = await pool.query(`select body::text from ${schema}.events order by seq`)
    return (rows as Array<{ body: string }>).map(({ body }) => JSON.parse(body).data)
  }
  // Its clock has millisecond precision, and a transaction may begin and emit within one.
  for (let count = 0; count < 5; count++) {
    await clear()
    // Waits for the engine's own transactions: PGlite has one connection for all of them.
    await recruiting.stats()
    await recruiting.emit({ ...application, ...subject })
    await t.rejects(recruiting.emit(second, { transaction: db }), rejection)
    await t.rejects(recruiting.erase(subject, { transaction: db }), rejection)
    t.strictSame(await readEvents(), [{ id: 1 }])
    await db.transaction(async (transaction) => {
      t.match(await recruiting.emit(second, { transaction }), { deliveries: 0 })
      t.equal(await recruiting.erase(subject, { transaction }), 1)
    })
    t.strictSame(await readEvents(), [null, { id: 2 }])
  }
})
