import t from 'tap'
import { migrate } from '../../src/storages/postgres/index.js'
import { createSession } from '../../src/storages/postgres/session.js'
import { countRows, describeSchema, parseKey, readExpected } from '../../src/storages/postgres/upgrade/describe.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('the expected schema is what the migrations create, in any schema and for any role', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  const expected = await readExpected()
  const tables = [...expected.keys()].map(parseKey).flatMap(({ kind, owner }) => kind === 'rows' ? [owner] : [])
  for (const schema of ['recruiting', 'App "7" $prod']) {
    await migrate(pool, { schema })
    const found = await createSession(pool, 10_000).transaction('describe', async (query) => {
      await query('set local quote_all_identifiers to on')
      const rows = await countRows(query, schema, tables)
      // Without any privilege.
      await query('create role schema_stranger; set local role schema_stranger')
      return new Map([...await describeSchema(query, schema), ...rows])
    })
    await pool.query('drop role schema_stranger')
    t.same(Object.fromEntries(found), Object.fromEntries(expected), schema)
  }
})
