import t from 'tap'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'

t.test('the order of changes', async (t) => {
  const { pool, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  async function rowCount (): Promise<number> {
    await compact(changes)
    return (await pool.query('select from recruiting.changes')).rows.length
  }

  t.test('a change that commits late comes late, after those that it hid', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await withClient(pool, async (late) => {
      await late.query('begin')
      await record('late', late)
      for (const id of ['1', '2']) await record(id)
      const hidden = await follow(changes, start)
      t.strictSame(hidden.ids, [])
      t.strictSame(await changes.list('acme', 'candidate', { after: hidden.position, limit: 1 }), { ids: [], position: hidden.position, hasMore: false })
      await late.query('commit')
      const rest = await follow(changes, hidden.position, { limit: 1 })
      t.strictSame(rest.ids, ['late', '1', '2'])
      t.strictSame((await follow(changes, rest.position)).ids, [])
    })
  })

  t.test('a transaction that only reads hides nothing', async (t) => {
    await withClient(pool, async (reader) => {
      await reader.query('begin isolation level repeatable read; select from recruiting.changes')
      const start = await changes.begin('acme', 'candidate')
      await record('1')
      t.strictSame((await follow(changes, start)).ids, ['1'])
    })
  })

  t.test('a rolled back transaction leaves no change, and readers go on behind it', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await withClient(pool, async (client) => {
      await client.query('begin')
      await record('lost', client)
      await client.query('rollback')
    })
    await record('1')
    t.strictSame((await follow(changes, start)).ids, ['1'])
  })

  t.test('a savepoint takes its changes with it, and no others', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await withClient(pool, async (client) => {
      await client.query('begin')
      await record('kept', client)
      await client.query('savepoint one')
      await record('kept', client)
      await record('lost', client)
      await record('again', client)
      await client.query('rollback to one')
      await record('again', client)
      await client.query('commit')
    })
    t.strictSame([...new Set((await follow(changes, start)).ids)], ['again', 'kept'])
  })

  t.test('one row is kept for each candidate, also when an older transaction records it after a younger one', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    for (let n = 0; n < 3; n++) await record('1')
    t.equal(await rowCount(), 1)
    await withClient(pool, async (older) => {
      await older.query('begin; select pg_current_xact_id()')
      await record('1')
      await record('1', older)
      await older.query('commit')
    })
    t.equal(await rowCount(), 1)
    t.strictSame((await follow(changes, start)).ids, ['1'])
  })

  t.test('the row says whether the last change of a transaction deleted it', async (t) => {
    await withClient(pool, async (client) => {
      await client.query('begin')
      for (const deleted of [false, true, true, false, true]) await changes.record('acme', { kind: 'job', id: '7', deleted }, client)
      await client.query('commit')
    })
    await compact(changes)
    t.strictSame((await pool.query('select kind, id, deleted from recruiting.changes')).rows, [{ kind: 'job', id: '7', deleted: true }])
  })

  t.test('a quiet tenant\'s position moves on with each pruning', async (t) => {
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
    t.strictSame((await follow(changes, start, { tenantSlug, limit: 1 })).ids, ids.toSorted())
  })
})
