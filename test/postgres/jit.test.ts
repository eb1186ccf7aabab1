import t from 'tap'
import { type PgPool, postgresStorage, watch } from '../../src/postgres/index.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

t.test('no function of the schema compiles its statements', async (t) => {
  const { pool } = await startPostgresHost(t)
  await watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  const { rows } = await pool.query(`
    select proname from pg_proc
    where pronamespace = 'recruiting'::regnamespace and not coalesce('jit=off' = any (proconfig), false)`)
  t.same(rows, [])
})

t.test('statements that read the queue are not compiled', async (t) => {
  const { pool } = await startPostgresHost(t)
  const compiled = new Map<string, string>()
  const observed: PgPool = {
    query: (text, values) => pool.query(text, values),
    async connect () {
      const client = await pool.connect()
      return {
        async query (text, values) {
          const { rows: [{ jit }] } = await client.query('show jit')
          if (text.includes('.queue ')) compiled.set(text.split(' fastify-recruiting-api ')[1]?.split(/ \w+-\d+ /)[0] ?? text, jit)
          return client.query(text, values)
        },
        release: (destroy) => client.release(destroy)
      }
    }
  }
  const { deliveries } = postgresStorage(observed)
  await deliveries.stats()
  await deliveries.tenantStats?.('acme')
  await deliveries.hasPending(0)
  t.strictSame(Object.fromEntries(compiled), {
    'read stats': 'off', 'read stats of a tenant': 'off', 'look for pending deliveries': 'off'
  })
})
