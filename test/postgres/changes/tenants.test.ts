import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { compact, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('changes of a tenant are kept', async (t) => {
  const { pool, storage, clear } = await startPostgresHost(t)
  const { changes } = storage
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  t.beforeEach(clear)
  const record = (tenantSlug: string, id: string, transaction?: unknown) => changes.record(tenantSlug, { kind: 'candidate', id, deleted: false }, transaction)
  async function rows (): Promise<string[]> {
    await compact(changes)
    const { rows } = await pool.query('select tenant, id from recruiting.changes order by 1, 2')
    return rows.map((row) => Object.values(row).join(' '))
  }

  t.test('until it is renamed, because the clients of both names begin again', async (t) => {
    await record('acme', '1')
    await compact(changes)
    await record('globex', '2')
    await record('acme', '3')
    await withClient(pool, async (client) => {
      await client.query('begin')
      for (const tenantSlug of ['acme', 'initech']) await record(tenantSlug, '4', client)
      await recruiting.renameTenant('acme', 'initech', { transaction: client })
      await record('initech', '5', client)
      await client.query('commit')
    })
    t.strictSame(await rows(), ['globex 2', 'initech 5'])
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
