import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('changes go with their tenant', async (t) => {
  const { pool, storage, clear } = await startPostgresHost(t)
  const { changes } = storage
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  t.beforeEach(clear)
  const record = (tenantSlug: string, id: string, transaction?: unknown) => changes.record(tenantSlug, { kind: 'candidate', id, deleted: false }, transaction)
  async function rows (): Promise<string[]> {
    await compact(changes)
    const { rows } = await pool.query('select tenant_slug, id from recruiting.changes order by 1, 2')
    return rows.map((row) => Object.values(row).join(' '))
  }

  t.test('to its new name', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await record('acme', '1')
    await compact(changes)
    await record('globex', '2')
    await record('acme', '3')
    await recruiting.renameTenant('acme', 'initech')
    t.strictSame(await rows(), ['globex 2', 'initech 1', 'initech 3'])
    t.strictSame((await follow(changes, start, { tenantSlug: 'initech' })).ids, ['1', '3'])
  })

  t.test('in a transaction that has recorded changes under both names already', async (t) => {
    await record('acme', '1')
    await withClient(pool, async (client) => {
      await client.query('begin')
      for (const tenantSlug of ['acme', 'initech']) {
        for (const id of ['1', '2']) await record(tenantSlug, id, client)
      }
      await record('acme', '3', client)
      await recruiting.renameTenant('acme', 'initech', { transaction: client })
      await record('initech', '3', client)
      await client.query('commit')
    })
    t.strictSame(await rows(), ['initech 1', 'initech 2', 'initech 3'])
  })

  t.test('until it is removed', async (t) => {
    await record('acme', '1')
    await compact(changes)
    await record('acme', '1')
    await record('globex', '2')
    await recruiting.removeTenant('acme')
    t.strictSame(await rows(), ['globex 2'])
  })
})
