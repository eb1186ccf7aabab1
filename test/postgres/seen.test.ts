import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { apiKeys, migrate, postgresStorage } from '../../src/postgres/index.js'
import type { Session } from '../../src/postgres/session.js'
import { createSeen, keepSeen, readVersion } from '../../src/postgres/upgrade/version.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

t.test('a process records the functions that it calls when it starts, in one row for all processes of its version', async (t) => {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const engines = [1, 2, 3].map(() => createRecruiting({ storage: postgresStorage(pool) }))
  for (const engine of engines) {
    await engine.drain()
    await engine.close()
  }
  await postgresStorage(pool).verify(null)
  const { rows } = await pool.query("select functions, seen_at > now() - interval '1 minute' as is_new from recruiting.versions")
  t.strictSame(rows, [{ functions: [...(await readVersion()).functions.keys()], is_new: true }])
})

t.test('a process that is used records them again every hour, although one record failed', async (t) => {
  const operations: string[] = []
  let now = 0
  let isDown = false
  const session: Session = {
    async query (operation) {
      operations.push(operation)
      if (isDown && operation === 'record version') throw new Error('the server is gone')
      return []
    },
    async transaction (operation) {
      operations.push(operation)
      return null as never
    }
  }
  const seen = createSeen(session, 'recruiting', async () => ['claim_v1'], () => now)
  const kept = keepSeen(session, seen)

  async function use (minutes: number): Promise<string[]> {
    now += minutes * 60_000
    operations.length = 0
    await kept.query('a query', 'select')
    await kept.transaction('a transaction', async () => null)
    await turn()
    return [...operations]
  }

  t.strictSame(await use(59), ['a query', 'a transaction'])
  isDown = true
  t.strictSame((await use(1)).toSorted(), ['a query', 'a transaction', 'record version'])
  isDown = false
  t.strictSame(await use(59), ['a query', 'a transaction'])
  t.strictSame((await use(1)).toSorted(), ['a query', 'a transaction', 'record version'])
})

t.test('a process that only manages keys records them every hour, also if all its calls are in transactions of the host', async (t) => {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const keys = apiKeys(pool)
  const isSeen = async () => (await pool.query('delete from recruiting.versions returning functions')).rows.length > 0
  const { now } = performance
  let hours = 0
  t.intercept(performance, 'now', { value: () => now.call(performance) + hours * 3_600_000 })

  await keys.list({ tenantSlug: 'acme' })
  t.notOk(await isSeen())
  const client = await pool.connect()
  t.teardown(() => client.release())
  await client.query('begin')
  for (const transaction of [undefined, client]) {
    hours++
    await keys.list({ tenantSlug: 'acme' }, { transaction })
    while (!await isSeen());
  }
  await client.query('rollback')
})
