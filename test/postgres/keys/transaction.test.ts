import t from 'tap'
import { apiKeys, postgresKeyLookup } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('keys in a transaction of the host', async (t) => {
  const { pool } = await startPostgresHost(t)
  const keys = apiKeys(pool)
  const lookup = postgresKeyLookup(pool)
  const input = { tenantSlug: 'acme', scopes: ['jobs:read'] }
  const kept = await keys.issue(input)

  async function inTransaction (end: 'commit' | 'rollback') {
    const transaction = await pool.connect()
    await transaction.query('begin')
    const issued = await keys.issue(input, { transaction })
    const rotated = await keys.rotate({ tenantSlug: 'acme' }, issued.id, {}, { transaction })
    const revoked = await keys.revoke({ tenantSlug: 'acme' }, issued.id, { transaction })
    const seen = [(await keys.find({ tenantSlug: 'acme' }, issued.id, { transaction }))?.revokedAt !== null, (await keys.list({ tenantSlug: 'acme' }, { transaction })).length]
    t.equal(await keys.find({ tenantSlug: 'acme' }, issued.id), null, 'nobody else sees it yet')
    await transaction.query(end)
    transaction.release()
    return { issued, rotated, revoked, seen }
  }

  t.test('change nothing if it is rolled back', async (t) => {
    const { issued, rotated, revoked, seen } = await inTransaction('rollback')
    t.strictSame([revoked, ...seen], [true, true, 3])
    t.equal((await keys.list({ tenantSlug: 'acme' })).length, 1)
    for (const { key } of [issued, rotated]) t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key }), null)
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: kept.key }), { id: kept.id })
  })

  t.test('change everything if it commits', async (t) => {
    const { issued, rotated } = await inTransaction('commit')
    t.equal(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: issued.key }), null)
    t.match(await lookup({ tenantSlug: 'acme', tenantId: 'acme', key: rotated.key }), { id: rotated.id })
  })

  t.test('are refused outside one', async (t) => {
    const client = await pool.connect()
    const calls: Array<(transaction: unknown) => Promise<unknown>> = [
      (transaction) => keys.issue(input, { transaction }),
      (transaction) => keys.list({ tenantSlug: 'acme' }, { transaction }),
      (transaction) => keys.rotate({ tenantSlug: 'acme' }, kept.id, {}, { transaction }),
      (transaction) => keys.revoke({ tenantSlug: 'acme' }, kept.id, { transaction }),
      (transaction) => keys.find({ tenantSlug: 'acme' }, kept.id, { transaction })
    ]
    const before = await keys.list({ tenantSlug: 'acme' })
    for (const call of calls) {
      for (const transaction of [null, client, pool, 'begin']) await t.rejects(call(transaction), { code: 'invalid_event', field: 'transaction' })
    }
    client.release()
    t.strictSame(await keys.list({ tenantSlug: 'acme' }), before)
  })
})
