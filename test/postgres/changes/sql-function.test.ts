import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

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

  t.test('needs usage on the schema and insert on recent_changes, and nothing else', async (t) => {
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

  t.test('names the argument that it does not accept', async (t) => {
    const id = 'id: expected 1 to 64 visible ASCII characters without /'
    const tenant = 'tenant_slug: expected 1 to 200 characters without control characters'
    const kind = 'kind: expected candidate or job'
    const refused: Array<[list: string, problem: string]> = [
      ["null, 'candidate', '1'", `${tenant}, got NULL`],
      ["'', 'candidate', '1'", `${tenant}, got ''`],
      ["E'a\\nb', 'candidate', '1'", `${tenant}, got 'a\nb'`],
      ["repeat('ß', 201), 'candidate', '1'", `${tenant}, got '${'ß'.repeat(120)}'`],
      ["'acme', null, '1'", `${kind}, got NULL`],
      ["'acme', 'candidates', '1'", `${kind}, got 'candidates'`],
      ["'acme', 'job', null", `${id}, got NULL`],
      ["'acme', 'job', ''", `${id}, got ''`],
      ["'acme', 'job', 'a/b'", `${id}, got 'a/b'`],
      ["'acme', 'job', 'ß'", `${id}, got 'ß'`],
      ["'acme', 'job', repeat('x', 65)", `${id}, got '${'x'.repeat(65)}'`],
      ["'acme', 'job', repeat('x', 1000)", `${id}, got '${'x'.repeat(120)}'`],
      ["'acme', 'job', '1', null", 'deleted: expected true or false, got NULL']
    ]
    for (const [list, problem] of refused) {
      await t.rejects(call(list), { code: '22023', message: `changed: ${problem}` }, list)
    }
    await t.resolves(call("repeat('ß', 100), 'job', repeat('~', 64)"))
  })
})
